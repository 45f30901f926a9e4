/* What a word of the command line means: a suite, a folder, a file, and which numbers of it. */
#include "bench/suite.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LONGEST_LIST = 1 << 20,
    MOST_NAMES = 256, /* of suites that "did you mean" compares */
    DEEPEST = 4,      /* folders below a folder */
};

static const char list_name[] = "LIST";

static enum status
wrong(struct diags *diags, const char *word, const char *what)
{
    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s: %s", word, what);
    return STATUS_INPUT;
}

/* ---- files ---- */

static bool
is_kind(const char *path, mode_t kind)
{
    struct stat facts;

    return stat(path, &facts) == 0 && (facts.st_mode & S_IFMT) == kind;
}

static bool
has_list(struct arena *arena, const char *folder)
{
    return is_kind(file_join(arena, folder, list_name), S_IFREG);
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a folder that do not begin with a dot, in order. */
static size_t
names_in(struct arena *arena, const char *folder, const char ***names)
{
    struct buf text = buf_in(arena);
    size_t count = 0, at = 0;
    DIR *dir = opendir(folder);

    /* first as one text: no folder is open while the arena is asked for an array */
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.') {
            buf_add(&text, entry->d_name, strlen(entry->d_name) + 1);
            count++;
        }
    if (dir)
        closedir(dir);
    *names = arena_array(arena, count + 1, sizeof **names);
    for (size_t i = 0; i < count; i++, at += strlen(text.data + at) + 1)
        (*names)[i] = text.data + at;
    if (count > 1)
        qsort(*names, count, sizeof **names, by_name);
    return count;
}

const char *
suite_folder(struct arena *arena)
{
    static const char *const places[] = {"../share/hone/suites", "../../suites"};
    const char *named = getenv("HONE_SUITES");
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (named && *named)
        return named;
    for (size_t i = 0; length > 0 && i < sizeof places / sizeof *places; i++) {
        const char *program = arena_strndup(arena, self, (size_t)length);
        const char *folder = file_join(arena, file_folder_of(arena, program), places[i]);
        char *real = realpath(folder, NULL);

        folder = real ? arena_strdup(arena, real) : folder;
        free(real);
        if (is_kind(folder, S_IFDIR))
            return folder;
    }
    return NULL;
}

/* ---- names ---- */

/* "suites/kernelbench/1/" is called kernelbench/1, wherever it lies. */
static const char *
name_of_suite(struct arena *arena, const char *folder)
{
    static const char above[] = "suites/";
    const char *ours = suite_folder(arena);
    const char *name = folder, *from = folder;
    size_t length = ours ? strlen(ours) : 0;

    if (ours && !strncmp(folder, ours, length) && folder[length] == '/' && folder[length + 1])
        name = from = folder + length + 1;

    for (; (from = strstr(from, above)) != NULL; from += strlen(above))
        if ((from == folder || from[-1] == '/') && from[strlen(above)] != '\0')
            name = from + strlen(above);
    length = strlen(name);
    while (length > 1 && name[length - 1] == '/')
        length--;
    return arena_strndup(arena, name, length);
}

/* "suites/odd/007_prime.op" is called prime. */
static const char *
name_of_task(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t digits = strspn(name, "0123456789"), length;

    if (digits > 0 && name[digits] == '_' && name[digits + 1] != '\0')
        name += digits + 1;
    length = strlen(name);
    if (text_ends(name, ".op") && length > strlen(".op"))
        length -= strlen(".op");
    return arena_strndup(arena, name, length);
}

static void
add(struct arena *arena, struct suite_plan *plan, const struct suite_task *task)
{
    if ((plan->count & (plan->count - 1)) == 0)
        plan->tasks = arena_grow(arena, plan->tasks, plan->count, plan->count ? 2 * plan->count : 1,
                                 sizeof *plan->tasks);
    plan->tasks[plan->count++] = *task;
}

/* No task twice; and by a path that means the same in any folder. */
static void
add_new(struct arena *arena, struct suite_plan *plan, struct suite_task *task)
{
    char *real = realpath(task->path, NULL);

    if (real)
        task->path = arena_strdup(arena, real);
    free(real);
    for (size_t i = 0; i < plan->count; i++)
        if (!strcmp(plan->tasks[i].path, task->path))
            return;
    add(arena, plan, task);
}

/* ---- ranges ---- */

/* A number from 1 on; `missing` where none is written. */
static bool
read_number(const char *text, size_t length, int64_t missing, int64_t *number)
{
    char digits[20];

    *number = missing;
    if (length == 0)
        return true;
    if (length >= sizeof digits || strspn(text, "0123456789") < length)
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    return text_integer(digits, number) && *number > 0;
}

/* "7", "1-20", "90-", "-9". */
static bool
read_range(const char *text, size_t length, struct suite_range *range)
{
    const char *dash = memchr(text, '-', length);

    if (dash == NULL)
        return length > 0 && read_number(text, length, 0, &range->first) &&
               read_number(text, length, 0, &range->last);
    size_t before = (size_t)(dash - text), behind = length - before - 1;
    return before + behind > 0 && read_number(text, before, 0, &range->first) &&
           read_number(dash + 1, behind, 0, &range->last) &&
           (range->last == 0 || range->first <= range->last);
}

bool
suite_read_ranges(struct arena *arena, const char *text, struct suite_range **ranges, size_t *count)
{
    *ranges = arena_array(arena, strlen(text) + 1, sizeof **ranges);
    *count = 0;
    for (;;) {
        size_t length = strcspn(text, ",");

        if (!read_range(text, length, &(*ranges)[(*count)++]))
            return false;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}

static bool
is_in(const struct suite_range *ranges, size_t count, int64_t number)
{
    for (size_t i = 0; i < count; i++)
        if (number >= ranges[i].first && (ranges[i].last == 0 || number <= ranges[i].last))
            return true;
    return false;
}

static bool
has_task(const struct suite_plan *all, const struct suite_range *range)
{
    for (size_t i = 0; i < all->count; i++)
        if (is_in(range, 1, all->tasks[i].number))
            return true;
    return false;
}

/* "no task has the number 12", "... a number from 3 to 5" */
static const char *
nobody_has(struct arena *arena, const struct suite_range *range)
{
    const long long from = (long long)range->first, to = (long long)range->last;

    return from == to ? arena_printf(arena, "no task has the number %lld", from)
                      : arena_printf(arena, "no task has a number from %lld to %lld", from, to);
}

/* Bounds that are no task's number are a mistake, or a wish that nothing fulfils. In a folder of
 * suites the last task need not have the highest number. */
static enum status
check_ranges(struct arena *arena, const char *word, const struct suite_range *ranges, size_t count,
             const struct suite_plan *all, struct diags *diags)
{
    int64_t first = all->tasks[0].number, last = first;

    for (size_t i = 1; i < all->count; i++) {
        first = all->tasks[i].number < first ? all->tasks[i].number : first;
        last = all->tasks[i].number > last ? all->tasks[i].number : last;
    }
    for (size_t i = 0; i < count; i++) {
        if ((ranges[i].first && ranges[i].first < first) || ranges[i].first > last ||
            ranges[i].last > last)
            return wrong(diags, word,
                         arena_printf(arena, "its tasks are %lld to %lld; write numbers among them",
                                      (long long)first, (long long)last));
        if (!has_task(all, &ranges[i]))
            return wrong(diags, word,
                         arena_printf(arena, "%s; its tasks are %lld to %lld, with gaps",
                                      nobody_has(arena, &ranges[i]), (long long)first,
                                      (long long)last));
    }
    return STATUS_OK;
}

const char *
suite_label(const char *suite)
{
    if (text_starts(suite, "kernelbench/"))
        return "KernelBench tasks on CPU (own text, v0 shapes, f32, weights as inputs)";
    if (text_starts(suite, "kernelbench-train/"))
        return "KernelBench tasks on CPU, in training mode (own text, v0 shapes, f32, weights as "
               "inputs)";
    return NULL;
}

/* ---- a list ---- */

bool
suite_has_mark(const char *marks, enum suite_mark mark)
{
    static const char *const names[SUITE_MARK_COUNT] = {
#define X(id, name) name,
        SUITE_MARKS(X)
#undef X
    };
    size_t length = strlen(names[mark]);

    for (const char *at = marks; (at = strstr(at, names[mark])) != NULL; at += length)
        if ((at == marks || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' '))
            return true;
    return false;
}

static bool
is_mark(const char *word)
{
    for (unsigned i = 0; i < SUITE_MARK_COUNT; i++)
        if (suite_has_mark(word, (enum suite_mark)i) && strchr(word, ' ') == NULL)
            return true;
    return false;
}

/* What is wrong with the line, or NULL; its words are cut apart in place. */
static const char *
read_line(struct arena *arena, char *line, int64_t last, const char *folder,
          struct suite_task *task)
{
    char *number = strsep(&line, " "), *file = line ? strsep(&line, " ") : NULL;
    char *marks = line;

    if (file == NULL || *number == '\0' || !read_number(number, strlen(number), 0, &task->number))
        return "a line is NUMBER FILE.op [MARK ...], as in 7 007_matmul.op smaller";
    if (task->number <= last)
        return "numbers rise from line to line";
    if (!text_ends(file, ".op") || strchr(file, '/') != NULL || !strcmp(file, ".op"))
        return "the second word is the name of a file of this folder that ends in .op";
    task->path = file_join(arena, folder, file);
    task->name = name_of_task(arena, file);
    task->marks = marks ? arena_strdup(arena, marks) : "";
    for (char *mark; (mark = strsep(&marks, " ")) != NULL;)
        if (!is_mark(mark))
            return "a mark is wasteful, constant or smaller, and one blank stands before it";
    return NULL;
}

enum status
suite_read_list(struct arena *arena, const struct source *source, const char *suite,
                const char *folder, struct suite_plan *plan, struct diags *diags)
{
    char *text = arena_strndup(arena, source->text, source->length);
    int64_t last = 0;
    uint32_t line = 0;
    enum status status = STATUS_OK;

    for (char *start; (start = strsep(&text, "\n")) != NULL;) {
        struct suite_task task = {.suite = suite};
        const char *fault;

        line++;
        if (*start == '#' || *start == '\0')
            continue;
        fault = read_line(arena, start, last, folder, &task);
        if (fault != NULL) {
            diags_add(diags, DIAG_ERROR, (struct place){source, line, 0}, "%s", fault);
            status = STATUS_INPUT;
            continue;
        }
        last = task.number;
        add(arena, plan, &task);
    }
    return status;
}

/* ---- a folder ---- */

static enum status
read_list_of(struct arena *arena, const char *folder, struct suite_plan *plan, struct diags *diags)
{
    struct source *source = arena_alloc(arena, sizeof *source); /* messages point to it */
    const char *path = file_join(arena, folder, list_name);
    enum status status = file_read(arena, path, LONGEST_LIST, source, diags);

    if (status != STATUS_OK)
        return status;
    return suite_read_list(arena, source, name_of_suite(arena, folder), folder, plan, diags);
}

/* Its list; else its .op files; and what the folders below it have. */
static enum status
read_folder(struct arena *arena, const char *folder, unsigned depth, struct suite_plan *plan,
            struct diags *diags)
{
    const char **names;
    int64_t number = 0;
    enum status status = STATUS_OK;

    if (has_list(arena, folder))
        return read_list_of(arena, folder, plan, diags);
    size_t count = names_in(arena, folder, &names);
    for (size_t i = 0; i < count; i++) {
        const char *path = file_join(arena, folder, names[i]);
        struct suite_task task = {.suite = name_of_suite(arena, folder), .path = path, .marks = ""};

        if (!text_ends(path, ".op") || !is_kind(path, S_IFREG))
            continue;
        task.number = ++number;
        task.name = name_of_task(arena, path);
        add(arena, plan, &task);
    }
    for (size_t i = 0; i < count && depth < DEEPEST && status == STATUS_OK; i++)
        if (is_kind(file_join(arena, folder, names[i]), S_IFDIR))
            status = read_folder(arena, file_join(arena, folder, names[i]), depth + 1, plan, diags);
    return status;
}

/* The folder of this name, here or among the suites that come with hone; NULL: none. */
static const char *
find_folder(struct arena *arena, const char *name)
{
    const char *suites = suite_folder(arena);
    const char *theirs = suites ? file_join(arena, suites, name) : NULL;

    if (is_kind(name, S_IFDIR))
        return name;
    return theirs && *name && is_kind(theirs, S_IFDIR) ? theirs : NULL;
}

/* ---- a file ---- */

static enum status
select_file(struct arena *arena, const char *path, struct suite_plan *plan, struct diags *diags)
{
    const char *folder = file_folder_of(arena, path);
    struct suite_task task = {
        .suite = "", .path = path, .marks = "", .name = name_of_task(arena, path)};
    struct suite_plan listed = {0};

    if (has_list(arena, folder)) {
        enum status status = read_list_of(arena, folder, &listed, diags);

        if (status != STATUS_OK)
            return status;
    }
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; i < listed.count; i++)
        if (!strcmp(strrchr(listed.tasks[i].path, '/') + 1, slash ? slash + 1 : path))
            task = listed.tasks[i];
    add_new(arena, plan, &task);
    return STATUS_OK;
}

/* ---- a word ---- */

/* Every suite that comes with hone, for messages. */
static size_t
known_suites(struct arena *arena, const char **names)
{
    const char *folder = suite_folder(arena);
    struct suite_plan all = {0};
    size_t count = 0;

    if (folder)
        read_folder(arena, folder, 0, &all, diags_create(arena, 1));
    for (size_t i = 0; i < all.count && count < MOST_NAMES; i++)
        if (count == 0 || strcmp(names[count - 1], all.tasks[i].suite) != 0)
            names[count++] = name_of_suite(arena, all.tasks[i].suite);
    return count;
}

static enum status
not_found(struct arena *arena, const char *word, const char *name, struct diags *diags)
{
    const char *names[MOST_NAMES];
    size_t count = known_suites(arena, names);
    const char *near = text_nearest(name, names, count);
    struct buf list = buf_in(arena);

    for (size_t i = 0; i < count; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    if (near)
        return wrong(diags, word,
                     arena_printf(arena, "no such suite, folder or file; did you mean %s?", near));
    if (count == 0)
        return wrong(diags, word,
                     "no such folder or file, and the suites of hone are not there either; set "
                     "HONE_SUITES to their folder");
    return wrong(diags, word,
                 arena_printf(arena, "no such suite, folder or file; write one of %s", list.data));
}

/* What stands behind the last colon, if that is meant as numbers; the word is cut there. */
static const char *
cut_ranges(struct arena *arena, const char *word, const char **name)
{
    const char *colon = strrchr(word, ':');

    *name = word;
    if (colon == NULL || access(word, F_OK) == 0)
        return NULL;
    *name = arena_strndup(arena, word, (size_t)(colon - word));
    return colon + 1;
}

enum status
suite_select(struct arena *arena, const char *word, struct suite_plan *plan, struct diags *diags)
{
    const char *name, *text = cut_ranges(arena, word, &name);
    const char *folder = find_folder(arena, name);
    struct suite_plan all = {0};
    struct suite_range *ranges = NULL;
    size_t range_count = 0;

    if (text && !suite_read_ranges(arena, text, &ranges, &range_count))
        return wrong(diags, word,
                     "write numbers from 1 on behind the colon, the smaller one of a range first, "
                     "as in kernelbench/1:1-20,35");
    if (folder == NULL && !is_kind(name, S_IFREG))
        return not_found(arena, word, name, diags);
    if (folder == NULL && text)
        return wrong(diags, word, "numbers are of suites and folders; name the file alone");
    if (folder == NULL)
        return select_file(arena, name, plan, diags);
    enum status status = read_folder(arena, folder, 0, &all, diags);
    if (status != STATUS_OK)
        return status;
    if (all.count == 0)
        return wrong(diags, word,
                     "there is no task in it: neither a LIST nor a file that ends in "
                     ".op");
    if (text)
        status = check_ranges(arena, word, ranges, range_count, &all, diags);
    for (size_t i = 0; i < all.count && status == STATUS_OK; i++)
        if (!text || is_in(ranges, range_count, all.tasks[i].number))
            add_new(arena, plan, &all.tasks[i]);
    return status;
}
