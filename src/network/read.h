/* read.h - what the readers of networks share. */
#ifndef SP_NETWORK_READ_H
#define SP_NETWORK_READ_H

#include "matrix/text.h"
#include "network/internal.h"

enum { SP_PATH = 4096 };

/* What is known of a list of edges before it is read. */
typedef struct {
    int64_t inputs, outputs; /* 0: as many as it names */
    int base;                /* the first neuron is 0 or 1 */
    int rows_are_outputs;    /* "output input weight" */
} sp_edge_list;

/* A matrix of one row for each output; repeats are summed. SPRY_INPUT names
 * the line that is wrong. */
spry_status sp_edge_list_parse(spry_matrix **out, const sp_text *t,
                               const sp_edge_list *list);

/* A matrix, rows outputs, as the next layer of s. */
spry_status sp_layers_take(spry_layers *s, const spry_matrix *m, float bias,
                           const char *name);

/* ---- folders (folder.c) ---- */

/* The names in a folder, numbers in them in the order of numbers. */
typedef struct {
    char **name; /* [count] */
    int64_t count;
} sp_folder;
spry_status sp_folder_read(sp_folder *out, const char *path);
void sp_folder_free(sp_folder *f);
/* Forget the names behind the first `count`. */
void sp_folder_cut(sp_folder *f, int64_t count);
int sp_is_folder(const char *path);
/* Does the name end so, or so and .gz? */
int sp_ends_in(const char *name, const char *ending);
/* folder/name, or SPRY_USAGE when that is too long. */
spry_status sp_path_join(char out[SP_PATH], const char *folder,
                         const char *name);

/* ---- the formats ---- */

/* "n1024-l7.tsv" or .tsv.gz into 1024 and 7; 0: no such name. */
int sp_challenge_name(const char *name, int64_t *width, int64_t *layer);
/* Is it one, by the names in it? */
int sp_challenge_sniff(const sp_folder *f);
spry_status sp_challenge_open(spry_layers *s, sp_folder *f, const char *path);
/* A matrix file for each layer. */
spry_status sp_files_open(spry_layers *s, sp_folder *f, const char *path);

/* Any acyclic graph as a list of edges. */
spry_status sp_dag_parse(spry_network **out, const sp_text *t,
                         const spry_network_options *o);
spry_status sp_dag_read(spry_network **out, sp_file *file, const char *name,
                        const spry_network_options *o);

/* .spnet: whole, or layer by layer from the file. */
int sp_spnet_sniff(const char *data, size_t len);
spry_status sp_spnet_read(spry_network **out, sp_file *file, const char *name,
                          const spry_network_options *unused);
/* Does a plain file begin like one? */
int sp_is_spnet(const char *path);
spry_status sp_spnet_open(spry_layers *s, const char *path);
spry_status sp_spnet_write(const spry_network *n, const char *path);
spry_status sp_spnet_write_layers(spry_layers *from, const char *path);

/* The text of a layer as the challenge writes it. */
void sp_challenge_text(sp_buf *out, const spry_layer *l);
spry_status sp_challenge_write(spry_layers *from, const char *path);

#endif
