# Directed graph
# FromNodeId	ToNodeId
0	1
2	0
3	3
