// ONNX Runtime, by its package for Node: onnxruntime_peer.js MODEL.onnx
// THREADS. Prints a line of JSON when ready, then runs once for each line.
'use strict';
const readline = require('readline');

function open() {
  try {
    return require('onnxruntime-node');
  } catch {
    process.stderr.write('Node finds no onnxruntime-node in NODE_PATH\n');
    process.exit(1);
  }
}

function operand(ort, {type, shape}) {
  const count = shape.reduce((product, n) => product * n, 1);
  return type === 'int64'
    ? new ort.Tensor(type, new BigInt64Array(count).fill(1n), shape)
    : new ort.Tensor(type, Float32Array.from({length: count}, Math.random),
                     shape);
}

async function main() {
  const ort = open();
  const session = await ort.InferenceSession.create(process.argv[2], {
    intraOpNumThreads: Number(process.argv[3]), interOpNumThreads: 1,
    graphOptimizationLevel: 'all', executionMode: 'sequential',
  });
  const operands = Object.fromEntries(
    session.inputMetadata.map(x => [x.name, operand(ort, x)]));
  await session.run(operands);
  console.log(JSON.stringify({version: ort.env.versions.node}));
  for await (const _ of readline.createInterface({input: process.stdin})) {
    const begun = process.hrtime.bigint();
    await session.run(operands);
    console.log(Number(process.hrtime.bigint() - begun) / 1e9);
  }
}

main();
