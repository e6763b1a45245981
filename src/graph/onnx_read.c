/* onnx_read.c - a model of ONNX into a graph.
 *
 * Nothing in the file is believed: counts are compared with the bytes that
 * are there, names are given once, and what is not known is refused by its
 * name. Graphs within nodes are not followed, so nothing nests. */
#include "graph/onnx.h"

#include <string.h>

/* Outputs that a node may have besides those that are computed. */
enum { UNREAD = 4 };

spry_status sp_onnx_damaged(const char *what)
{
    return sp_fail(SPRY_INPUT, "the %s is damaged or cut short", what);
}

int sp_onnx_at(const sp_field *f, uint32_t number, sp_wire_kind kind)
{
    return f->number == number && f->kind == kind;
}

spry_status sp_onnx_text(const char **out, sp_onnx *o, const sp_field *f)
{
    const uint8_t *at = f->bytes.at, *end = f->bytes.end;

    if (f->kind != SP_WIRE_BYTES || end - at > SP_GRAPH_NAME)
        return sp_fail(SPRY_INPUT, "a name is not text, or too long");
    while (at < end) {
        size_t n = *at >= ' ' ? sp_utf8_length(at, end) : 0;

        if (n == 0)
            return sp_fail(SPRY_INPUT, "a name is not text, or too long");
        at += n;
    }
    at = f->bytes.at;
    *out = sp_pool_text(&o->g->pool, at ? (const char *)at : "",
                        (size_t)(end - at));
    return *out ? SPRY_OK : sp_fail_memory((size_t)(end - at));
}

/* ---- values ---- */

/* The value of this name, made when nobody spoke of it yet. */
static spry_status value_of(int *out, sp_onnx *o, const char *name)
{
    *out = sp_graph_find(o->g, name);
    return *out >= 0 ? SPRY_OK : sp_graph_value(out, o->g, name);
}

static spry_status take_dim(sp_extent *shape, sp_onnx *o, sp_wire w)
{
    int64_t size = -1;
    sp_field f;
    int more;

    while ((more = sp_wire_next(&w, &f)) != 0) {
        if (more < 0)
            return sp_onnx_damaged("shape");
        if (sp_onnx_at(&f, 1, SP_WIRE_VARINT)) {
            if (f.value > (uint64_t)INT64_MAX)
                return sp_fail(SPRY_INPUT, "a negative dimension");
            size = (int64_t)f.value;
        }
    }
    if (shape->dims == SP_GRAPH_DIMS)
        return sp_fail(SPRY_INPUT, "an input of more than %d dimensions",
                       SP_GRAPH_DIMS);
    if (size < 0)
        size = o->given && shape->dims < o->given->dims
                   ? o->given->dim[shape->dims]
                   : o->g->unknown;
    shape->dim[shape->dims++] = size;
    return SPRY_OK;
}

/* TypeProto.Tensor: 1 element type, 2 shape. */
static spry_status take_type(sp_opvalue *v, sp_onnx *o, sp_wire w)
{
    spry_status s = SPRY_OK;
    sp_field f, d;
    int more;

    while (s == SPRY_OK && (more = sp_wire_next(&w, &f)) != 0) {
        if (more < 0)
            return sp_onnx_damaged("type of an input");
        if (sp_onnx_at(&f, 1, SP_WIRE_VARINT)) {
            v->whole = sp_onnx_whole(f.value);
            if (v->whole < 0)
                return sp_fail(SPRY_INPUT,
                               "an input of element type %llu, which is not "
                               "known",
                               (unsigned long long)f.value);
        }
        if (!sp_onnx_at(&f, 2, SP_WIRE_BYTES))
            continue;
        v->known = 1;
        v->shape.dims = 0;
        while (s == SPRY_OK && (more = sp_wire_next(&f.bytes, &d)) != 0) {
            if (more < 0)
                return sp_onnx_damaged("shape");
            if (sp_onnx_at(&d, 1, SP_WIRE_BYTES))
                s = take_dim(&v->shape, o, d.bytes);
        }
    }
    return s;
}

/* ValueInfoProto: 1 name, 2 type; of which only tensors are known. */
static spry_status take_info(sp_opvalue *v, sp_onnx *o, sp_wire w)
{
    spry_status s = SPRY_OK;
    sp_field f, t;
    int more;

    memset(v, 0, sizeof *v);
    v->name = "";
    while (s == SPRY_OK && (more = sp_wire_next(&w, &f)) != 0) {
        if (more < 0)
            return sp_onnx_damaged("list of inputs");
        if (sp_onnx_at(&f, 1, SP_WIRE_BYTES))
            s = sp_onnx_text(&v->name, o, &f);
        if (!sp_onnx_at(&f, 2, SP_WIRE_BYTES))
            continue;
        while (s == SPRY_OK && (more = sp_wire_next(&f.bytes, &t)) != 0) {
            if (more < 0)
                return sp_onnx_damaged("type of an input");
            if (t.kind != SP_WIRE_BYTES)
                continue;
            if (t.number != 1 && t.number != 6)
                return sp_fail(SPRY_INPUT, "'%s' is not a tensor", v->name);
            if (t.number == 1)
                s = take_type(v, o, t.bytes);
        }
    }
    if (s == SPRY_OK && !*v->name)
        s = sp_fail(SPRY_INPUT, "an input or output without a name");
    return s;
}

static spry_status take_initializer(sp_onnx *o, sp_wire w)
{
    sp_opvalue v = {0};
    spry_status s = sp_onnx_tensor(&v, o, w);
    int at = -1;

    if (s == SPRY_OK && !*v.name)
        s = sp_fail(SPRY_INPUT, "an initializer without a name");
    if (s == SPRY_OK)
        s = sp_graph_value(&at, o->g, v.name);
    if (s == SPRY_OK) {
        v.name = o->g->value[at].name;
        o->g->value[at] = v;
    }
    return s;
}

/* Older files list initializers as inputs, too: those stay constants. */
static spry_status take_input(sp_onnx *o, sp_wire w)
{
    spry_graph *g = o->g;
    sp_opvalue v;
    spry_status s;
    int at;

    o->given = g->inputs < g->givens ? &g->given[g->inputs] : NULL;
    s = take_info(&v, o, w);
    o->given = NULL;
    at = s == SPRY_OK ? sp_graph_find(g, v.name) : -1;
    if (s != SPRY_OK || (at >= 0 && g->value[at].data))
        return s;
    if (!v.known)
        return sp_fail(SPRY_INPUT, "the input '%s' has no shape", v.name);
    s = sp_extent_count(&v.count, &v.shape);
    if (s == SPRY_OK)
        s = sp_graph_value(&at, g, v.name);
    if (s != SPRY_OK)
        return s;
    v.name = g->value[at].name;
    v.maker = -1;
    g->value[at] = v;
    return sp_list_add(&g->input, &g->inputs, at);
}

static spry_status take_output(sp_onnx *o, sp_wire w)
{
    spry_graph *g = o->g;
    sp_opvalue v;
    spry_status s = take_info(&v, o, w);
    int at = s == SPRY_OK ? sp_graph_find(g, v.name) : -1;

    if (s != SPRY_OK)
        return s;
    if (at < 0)
        return sp_fail(SPRY_INPUT, "nothing computes the output '%s'", v.name);
    for (int i = 0; i < g->outputs; i++)
        if (g->output[i] == at)
            return sp_fail(SPRY_INPUT, "the output '%s' is named twice",
                           v.name);
    return sp_list_add(&g->output, &g->outputs, at);
}

/* ---- nodes ---- */

/* A node's fields by number, gathered before they are understood. */
typedef struct {
    int inputs, outputs, attrs;
    const char *op, *domain;
} parts;

static spry_status count_parts(parts *p, sp_opnode *n, sp_onnx *o, sp_wire w)
{
    spry_status s = SPRY_OK;
    sp_field f;
    int more;

    p->op = p->domain = "";
    while (s == SPRY_OK && (more = sp_wire_next(&w, &f)) != 0) {
        if (more < 0 || (f.number <= 5 && f.kind != SP_WIRE_BYTES))
            return sp_onnx_damaged("node");
        p->inputs += f.number == 1;
        p->outputs += f.number == 2;
        p->attrs += f.number == 5;
        if (f.number == 3)
            s = sp_onnx_text(&n->name, o, &f);
        else if (f.number == 4)
            s = sp_onnx_text(&p->op, o, &f);
        else if (f.number == 7)
            s = sp_onnx_text(&p->domain, o, &f);
    }
    return s;
}

static spry_status find_operator(sp_opnode *n, const parts *p)
{
    if (*p->domain && strcmp(p->domain, "ai.onnx") != 0)
        return sp_fail(SPRY_INPUT, "the operator %s of '%s' is not known",
                       p->op, p->domain);
    n->op = sp_opcode_find(p->op);
    if (!n->op)
        return sp_fail(SPRY_INPUT, "the operator %s is not known", p->op);
    if (p->inputs < n->op->least || p->inputs > n->op->most)
        return sp_refuse(n, "%d inputs", p->inputs);
    if (p->outputs < 1 || p->outputs > n->op->outputs + UNREAD)
        return sp_refuse(n, "%d outputs", p->outputs);
    return SPRY_OK;
}

static spry_status check_attr(const sp_opnode *n, int count)
{
    static const char kinds[] = " fist FI";
    const sp_attr *a = &n->attr[count];
    const char *at = n->op->attrs;
    size_t len = strlen(a->name);

    for (int i = 0; i < count; i++)
        if (strcmp(n->attr[i].name, a->name) == 0)
            return sp_refuse(n, "the attribute %s is given twice", a->name);
    for (; at && *at; at = strchr(at, ' ') + 1)
        if (strncmp(at, a->name, len) == 0 && at[len] == '/')
            return at[len + 1] == kinds[a->kind]
                       ? SPRY_OK
                       : sp_refuse(n, "the attribute %s is of the wrong type",
                                   a->name);
    return sp_refuse(n, "the attribute %s is not known", a->name);
}

static spry_status take_edge(int *to, sp_onnx *o, const sp_field *f, int make)
{
    const char *name;
    spry_status s = sp_onnx_text(&name, o, f);

    *to = -1;
    if (s != SPRY_OK || !*name)
        return s;
    s = value_of(to, o, name);
    if (s == SPRY_OK && make) {
        sp_opvalue *v = &o->g->value[*to];

        if (v->maker >= 0 || v->data)
            return sp_fail(SPRY_INPUT, "the name '%s' is given twice", name);
        v->maker = o->g->nodes - 1;
    }
    return s;
}

static spry_status take_parts(sp_opnode *n, sp_onnx *o, sp_wire w)
{
    spry_status s = SPRY_OK;
    int in = 0, out = 0, attr = 0;
    sp_field f;

    while (s == SPRY_OK && sp_wire_next(&w, &f) > 0)
        if (f.number == 1)
            s = take_edge(&n->input[in++], o, &f, 0);
        else if (f.number == 2)
            s = take_edge(&n->output[out++], o, &f, 1);
        else if (f.number == 5) {
            s = sp_onnx_attr(&n->attr[attr], o, f.bytes);
            if (s == SPRY_OK)
                s = check_attr(n, attr);
            attr++;
        }
    if (s == SPRY_OK && n->op->outputs == 1 && n->output[0] < 0)
        return sp_refuse(n, "its result has no name");
    return s;
}

/* What training wants besides, such as the mask of a Dropout, is left out where
 * nobody reads it. */
static spry_status leave_out_unread(spry_graph *g)
{
    char *read = sp_alloc(g->values + 1, 1);
    spry_status s = read ? SPRY_OK : sp_fail_memory((size_t)g->values);

    for (int i = 0; s == SPRY_OK && i < g->outputs; i++)
        read[g->output[i]] = 1;
    for (int i = 0; s == SPRY_OK && i < g->nodes; i++)
        for (int k = 0; k < g->node[i].inputs; k++)
            if (g->node[i].input[k] >= 0)
                read[g->node[i].input[k]] = 1;
    for (int i = 0; s == SPRY_OK && i < g->nodes; i++) {
        sp_opnode *n = &g->node[i];

        for (int k = n->op->outputs; s == SPRY_OK && k < n->outputs; k++)
            if (n->output[k] >= 0 && read[n->output[k]])
                s = sp_refuse(n, "its output '%s' is not known",
                              g->value[n->output[k]].name);
        if (n->outputs > n->op->outputs)
            n->outputs = n->op->outputs;
    }
    sp_free(read);
    return s;
}

static spry_status take_node(sp_onnx *o, sp_wire w)
{
    sp_pool *pool = &o->g->pool;
    parts p = {0};
    sp_opnode *n;
    spry_status s = sp_graph_node(&n, o->g);

    if (s == SPRY_OK)
        s = count_parts(&p, n, o, w);
    if (s == SPRY_OK)
        s = find_operator(n, &p);
    if (s == SPRY_OK && p.attrs > 16)
        s = sp_refuse(n, "%d attributes", p.attrs);
    if (s != SPRY_OK)
        return s;
    n->inputs = p.inputs;
    n->outputs = p.outputs;
    n->attrs = p.attrs;
    n->input = sp_pool_get(pool, p.inputs, sizeof *n->input);
    n->output = sp_pool_get(pool, p.outputs, sizeof *n->output);
    n->attr = sp_pool_get(pool, p.attrs, sizeof *n->attr);
    if (!n->input || !n->output || !n->attr)
        return sp_fail_memory((size_t)p.attrs * sizeof *n->attr);
    return take_parts(n, o, w);
}

/* ---- the whole ---- */

/* All fields of this number, as messages. */
static spry_status each(sp_onnx *o, sp_wire w, uint32_t number,
                        spry_status (*take)(sp_onnx *, sp_wire))
{
    spry_status s = SPRY_OK;
    sp_field f;
    int more;

    while (s == SPRY_OK && (more = sp_wire_next(&w, &f)) != 0) {
        if (more < 0 || (f.number == number && f.kind != SP_WIRE_BYTES))
            return sp_onnx_damaged("graph");
        if (f.number == 15 || f.number == 14)
            return sp_fail(SPRY_INPUT,
                           "sparse initializers and quantised tensors are not "
                           "read");
        if (f.number == number)
            s = take(o, f.bytes);
    }
    return s;
}

static spry_status take_graph(sp_onnx *o, sp_wire w)
{
    spry_status s = each(o, w, 5, take_initializer);

    if (s == SPRY_OK)
        s = each(o, w, 11, take_input);
    /* A node's input need not be known yet, so that any order is taken. */
    if (s == SPRY_OK)
        s = each(o, w, 1, take_node);
    if (s == SPRY_OK)
        s = each(o, w, 12, take_output);
    for (int i = 0; s == SPRY_OK && i < o->g->inputs; i++)
        if (o->g->value[o->g->input[i]].maker >= 0)
            s = sp_fail(SPRY_INPUT, "the name '%s' is given twice",
                        o->g->value[o->g->input[i]].name);
    if (s == SPRY_OK && o->g->outputs == 0)
        s = sp_fail(SPRY_INPUT, "the graph has no outputs");
    return s == SPRY_OK ? leave_out_unread(o->g) : s;
}

static spry_status take_opset(sp_onnx *o, sp_wire w)
{
    const char *domain = "";
    uint64_t version = 0;
    spry_status s = SPRY_OK;
    sp_field f;
    int more;

    while (s == SPRY_OK && (more = sp_wire_next(&w, &f)) != 0) {
        if (more < 0)
            return sp_onnx_damaged("list of operator sets");
        if (sp_onnx_at(&f, 1, SP_WIRE_BYTES))
            s = sp_onnx_text(&domain, o, &f);
        if (sp_onnx_at(&f, 2, SP_WIRE_VARINT))
            version = f.value;
    }
    if (s != SPRY_OK || (*domain && strcmp(domain, "ai.onnx") != 0))
        return s;
    if (version < 7 || version > 21)
        return sp_fail(SPRY_INPUT, "operator set %llu; 7 to 21 are read",
                       (unsigned long long)version);
    o->g->opset = (int)version;
    return s;
}

spry_status sp_onnx_parse(spry_graph *g, const void *data, size_t len,
                          int folder)
{
    sp_onnx o = {g, folder, NULL};
    sp_wire w = {data, (const uint8_t *)data + len}, at = w;
    sp_field graph = {0}, f;
    spry_status s = SPRY_OK;
    int more;

    while (s == SPRY_OK && (more = sp_wire_next(&at, &f)) != 0) {
        if (more < 0)
            return sp_fail(SPRY_INPUT, "not an ONNX model, or cut short");
        if (sp_onnx_at(&f, 8, SP_WIRE_BYTES))
            s = take_opset(&o, f.bytes);
        else if (f.number == 25)
            s = sp_fail(SPRY_INPUT, "functions of a model are not read");
        else if (sp_onnx_at(&f, 7, SP_WIRE_BYTES)) {
            if (graph.number)
                return sp_fail(SPRY_INPUT, "two graphs");
            graph = f;
        }
    }
    if (s == SPRY_OK && !graph.number)
        s = sp_fail(SPRY_INPUT, "not an ONNX model: there is no graph in it");
    if (s == SPRY_OK && !g->opset)
        s = sp_fail(SPRY_INPUT, "the model does not say its operator set");
    if (s == SPRY_OK)
        s = take_graph(&o, graph.bytes);
    if (s == SPRY_OK)
        s = sp_graph_sort(g);
    if (s == SPRY_OK)
        s = sp_graph_count(g);
    return s == SPRY_OK ? sp_graph_infer(g) : s;
}
