/* cmd_completion.c - words that a shell offers, written from the tables of
 * commands and options, so that they cannot fall behind.
 *
 * Every command reads its page first. With a reader set, opt_parse shows the
 * page and does nothing else: so all pages are found by asking every command,
 * and every action that a page names, to begin. */
#include "cli.h"

#include <ctype.h>
#include <string.h>

static const opt options[] = {{0}};
static const opt_page page = {
    "completion",
    "bash|zsh|fish|table",
    "Print a completion script for a shell:\n"
    "  spry completion bash >/etc/bash_completion.d/spry\n"
    "  spry completion zsh  >~/.zfunc/_spry\n"
    "  spry completion fish >~/.config/fish/completions/spry.fish\n"
    "table lists every option by its command, values and help, separated by\n"
    "tabs, or with --json as JSON.",
    {options},
    1,
    1};

enum { NODES = 128, ACTIONS = 32, NAME = 24 };

/* A command, or an action of one. */
typedef struct {
    const char *command, *line;
    char action[NAME]; /* "": the command itself */
    const opt_page *page;
    const opt_page *other; /* of operator graphs; NULL: the same */
} node;

static node nodes[NODES];
static int count;
static const opt_page *shown;

static void show(const opt_page *p)
{
    shown = p;
}

static const opt_page *page_of(const cli_command *e, char *action,
                               char *operand)
{
    char *argv[] = {action, operand, NULL};

    shown = NULL;
    opt_reader = show;
    (void)e->run(!*action ? 0 : operand ? 2 : 1, argv);
    opt_reader = NULL;
    return shown;
}

/* `net` has other options for operator graphs. */
static const opt_page *page_of_graph(const cli_command *e, char *action)
{
    static const char *const actions[] = {"inspect", "run", "explain", "tune",
                                          "export"};
    static char graph[] = "net:";

    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (e->run == cmd_net && strcmp(action, actions[i]) == 0)
            return page_of(e, action, graph);
    return NULL;
}

static void add(const cli_command *e, const char *action)
{
    node *n = &nodes[count];
    char word[NAME];

    if (count == NODES)
        return;
    snprintf(word, sizeof word, "%s", action);
    n->command = e->name;
    n->line = e->line;
    n->page = page_of(e, word, NULL);
    n->other = page_of_graph(e, word);
    snprintf(n->action, sizeof n->action, "%s", action);
    count += n->page != NULL;
}

/* The actions among a page's operands, "list|show ID|gc": words in small
 * letters, first of their alternative. */
static int actions_of(char out[ACTIONS][NAME], const opt_page *p)
{
    int found = 0;

    for (const char *at = p->operands; *at && found < ACTIONS;) {
        size_t whole = strcspn(at, "|"), n = 0;

        while (n < whole && (islower((unsigned char)at[n]) || at[n] == '-'))
            n++;
        if (n > 1 && n < NAME && (n == whole || at[n] == ' '))
            snprintf(out[found++], NAME, "%.*s", (int)n, at);
        at += whole + (at[whole] == '|');
    }
    return found;
}

static void find_all(void)
{
    char action[ACTIONS][NAME];

    for (const cli_command *e = cli_commands; e->name; e++) {
        int first = count, n;

        add(e, "");
        if (count == first)
            continue;
        n = actions_of(action, nodes[first].page);
        for (int i = 0; i < n; i++)
            add(e, action[i]);
    }
}

/* ---- walking ---- */

typedef void option_writer(const node *n, const opt *o);

static int has(const opt_page *p, const char *name)
{
    for (int i = 0; i < OPT_TABLES && p->table[i]; i++)
        for (const opt *o = p->table[i]; o->name; o++)
            if (strcmp(o->name, name) == 0)
                return 1;
    return 0;
}

static void each_option(const node *n, option_writer *write)
{
    for (int i = 0; i < OPT_TABLES && n->page->table[i]; i++)
        for (const opt *o = n->page->table[i]; o->name; o++)
            write(n, o);
    for (int i = 0; n->other && i < OPT_TABLES && n->other->table[i]; i++)
        for (const opt *o = n->other->table[i]; o->name; o++)
            if (!has(n->page, o->name))
                write(n, o);
    for (const opt *o = cli_common; o->name; o++)
        if (!has(n->page, o->name))
            write(n, o);
}

static int is_action(const node *n)
{
    return n->action[0] != 0;
}

/* Text inside single quotes, without what would end them or what the shell's
 * own notation means something by. */
static void quoted(const char *text, const char *avoid)
{
    for (; *text; text++)
        if (*text == '\n' || *text == '\'')
            putchar(*text == '\n' ? ' ' : '`');
        else {
            if (strchr(avoid, *text))
                putchar('\\');
            putchar(*text);
        }
}

/* The words of "a|b|c", spaces between. */
static void words(const opt *o)
{
    for (const char *c = o->value; *c; c++)
        putchar(*c == '|' ? ' ' : *c);
}

static void path(const node *n)
{
    printf("%s%s%s", n->command, is_action(n) ? " " : "", n->action);
}

/* ---- bash ---- */

static void bash_option(const node *n, const opt *o)
{
    (void)n;
    printf(" --%s", o->name);
}

static void bash_words(const node *n, const opt *o)
{
    if (!opt_has_words(o))
        return;
    printf("    '");
    path(n);
    printf(" --%s') words='", o->name);
    words(o);
    printf("' ;;\n");
}

static void bash(void)
{
    printf("# bash completion of spry, written by `spry completion bash`.\n"
           "_spry() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} options= words= at\n"
           "    local prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
           "        COMPREPLY=($(compgen -W '");
    for (int i = 0; i < count; i++)
        if (!is_action(&nodes[i]))
            printf("%s ", nodes[i].command);
    printf("--help --version' -- \"$cur\"))\n"
           "        return\n"
           "    fi\n"
           "    at=${COMP_WORDS[1]}\n"
           "    case \"$at ${COMP_WORDS[2]}\" in\n");
    for (int i = 0; i < count; i++)
        if (is_action(&nodes[i])) {
            printf("    '");
            path(&nodes[i]);
            printf("') [ \"$COMP_CWORD\" = 2 ] || at='");
            path(&nodes[i]);
            printf("' ;;\n");
        }
    printf("    esac\n    case $at in\n");
    for (int i = 0; i < count; i++) {
        printf("    '");
        path(&nodes[i]);
        printf("') options='--help");
        each_option(&nodes[i], bash_option);
        printf("'");
        if (!is_action(&nodes[i])) {
            printf(" words='");
            for (int j = i + 1; j < count && is_action(&nodes[j]); j++)
                printf("%s ", nodes[j].action);
            printf("'");
        }
        printf(" ;;\n");
    }
    printf("    esac\n    [ \"$COMP_CWORD\" = 2 ] || words=\n"
           "    case \"$at $prev\" in\n");
    for (int i = 0; i < count; i++)
        each_option(&nodes[i], bash_words);
    printf("    esac\n"
           "    case $cur in -*) words=$options ;; esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "}\n"
           "complete -o default -F _spry spry\n");
}

/* ---- zsh ---- */

static void zsh_option(const node *n, const opt *o)
{
    (void)n;
    printf(" \\\n            '--%s[", o->name);
    quoted(o->help, "[]:");
    printf("]");
    if (opt_has_words(o)) {
        printf(":value:(");
        words(o);
        printf(")");
    } else if (o->kind == OPT_TEXT)
        printf(":value:_files");
    else if (o->kind != OPT_FLAG)
        printf(":value:");
    printf("'");
}

static void zsh_names(const char *indent, const char *of)
{
    for (int i = 0; i < count; i++) {
        if (of ? !is_action(&nodes[i]) || strcmp(nodes[i].command, of) != 0
               : is_action(&nodes[i]))
            continue;
        printf("%s'%s:", indent, of ? nodes[i].action : nodes[i].command);
        quoted(of ? "" : nodes[i].line, ":");
        printf("'\n");
    }
}

static void zsh(void)
{
    printf("#compdef spry\n"
           "# zsh completion of spry, written by `spry completion zsh`.\n"
           "_spry() {\n"
           "    local -a names\n"
           "    if (( CURRENT == 2 )); then\n"
           "        names=(\n");
    zsh_names("            ", NULL);
    printf("        )\n        _describe command names\n        return\n"
           "    fi\n    if (( CURRENT == 3 )); then\n"
           "        case ${words[2]} in\n");
    for (int i = 0; i + 1 < count; i++)
        if (!is_action(&nodes[i]) && is_action(&nodes[i + 1])) {
            printf("        %s) names=(\n", nodes[i].command);
            zsh_names("            ", nodes[i].command);
            printf("            ) && _describe action names ;;\n");
        }
    printf("        esac\n    fi\n"
           "    case \"${words[2]} ${words[3]}\" in\n");
    for (int round = 1; round >= 0; round--) /* actions first */
        for (int i = 0; i < count; i++)
            if (is_action(&nodes[i]) == round) {
                printf("    '");
                path(&nodes[i]);
                printf(round ? "')" : " '*)");
                printf(" _arguments '--help[say more]'");
                each_option(&nodes[i], zsh_option);
                printf(" \\\n            '*:file:_files' ;;\n");
            }
    printf("    esac\n}\n_spry \"$@\"\n");
}

/* ---- fish ---- */

static void fish_option(const node *n, const opt *o)
{
    printf("complete -c spry -n '__spry_at ");
    path(n);
    printf("' -l %s", o->name);
    if (opt_has_words(o)) {
        printf(" -x -a '");
        words(o);
        printf("'");
    } else if (o->kind != OPT_FLAG)
        printf(o->kind == OPT_TEXT ? " -r" : " -x");
    printf(" -d '");
    quoted(o->help, "\\");
    printf("'\n");
}

static void fish(void)
{
    printf("# fish completion of spry, written by `spry completion fish`.\n"
           "function __spry_at\n"
           "    set -l said (commandline -opc)\n"
           "    set -e said[1]\n"
           "    test (count $said) -ge (count $argv)\n"
           "    and test \"$said[1..\"(count $argv)\"]\" = \"$argv\"\n"
           "end\n"
           "function __spry_bare\n"
           "    test (count (commandline -opc)) -eq (math 1 + (count $argv))\n"
           "    and if set -q argv[1]; __spry_at $argv; end\n"
           "end\n");
    for (int i = 0; i < count; i++) {
        const node *n = &nodes[i];

        if (is_action(n))
            printf("complete -c spry -n '__spry_bare %s' -a %s\n", n->command,
                   n->action);
        else {
            printf("complete -c spry -n __spry_bare -f -a %s -d '", n->command);
            quoted(n->line, "\\");
            printf("'\n");
        }
        each_option(n, fish_option);
    }
}

/* ---- a table ---- */

static void table_option(const node *n, const opt *o)
{
    path(n);
    printf("\t--%s\t%s\t%s\n", o->name, o->value ? o->value : "", o->help);
}

static json document;

static void json_option(const node *n, const opt *o)
{
    char name[2 * NAME];

    snprintf(name, sizeof name, "%s%s%s", n->command, is_action(n) ? " " : "",
             n->action);
    json_open(&document, NULL, '{');
    json_text(&document, "command", name);
    json_text(&document, "option", o->name);
    json_text(&document, "value", o->value ? o->value : "");
    json_text(&document, "help", o->help);
    json_close(&document, '}');
}

static void write_table(void)
{
    if (cli.json) {
        document = json_begin("spry.completion/1");
        json_open(&document, "options", '[');
    }
    for (int i = 0; i < count; i++)
        each_option(&nodes[i], cli.json ? json_option : table_option);
    if (cli.json) {
        json_close(&document, ']');
        json_end(&document);
    }
}

spry_status cmd_completion(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*write)(void);
    } shells[] = {
        {"bash", bash}, {"zsh", zsh}, {"fish", fish}, {"table", write_table}};
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(argv[0], shells[i].name) == 0) {
            if (cli.json && shells[i].write != write_table)
                return say_fail(SPRY_USAGE,
                                "completion %s is a script; completion table "
                                "has --json",
                                argv[0]);
            find_all();
            shells[i].write();
            return SPRY_OK;
        }
    return say_fail(SPRY_USAGE,
                    "completion knows bash, zsh, fish and table, not '%s'",
                    argv[0]);
}
