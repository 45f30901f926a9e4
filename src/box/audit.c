/* What an object may contain, read from its bytes exactly as the dynamic loader will read them.
 *
 * The loader looks at program headers and the dynamic section alone, so section headers are not
 * read. Every table is found by its address through the segments, must lie in the file's part of
 * one segment, and, but for the dynamic section, in one that is never written: what is checked here
 * is what will be used. Unknown kinds of segment, dynamic entry and relocation are refused.
 *
 * A symbol that is "defined" but looked up by name could be found elsewhere first, so what a
 * relocation names must be local, an export, or on the list of what may be taken from outside. */
#include "box/box.h"

#include "base/text.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { HEADERS_MOST = 32, ENTRIES_MOST = 256, PAGE = 4096 };

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

struct image {
    const unsigned char *bytes;
    size_t count;
    Elf64_Phdr headers[HEADERS_MOST];
    unsigned header_count;
    const struct box_audit_rules *rules;
    struct box_audit *audit;
};

/* The entries of the dynamic section that are used here; addresses unless said otherwise. */
struct dynamic {
    uint64_t strtab, strsz, symtab, gnu_hash, rela, relasz, jmprel, pltrelsz;
    uint64_t seen; /* bits of the small tags: none may come twice */
    const char *strings;
};

static bool
refuse(struct image *image, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool
refuse(struct image *image, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(image->audit->reason, sizeof image->audit->reason, format, args);
    va_end(args);
    return false;
}

static bool
on_list(const char *name, const char *const *list)
{
    for (; *list; list++) {
        size_t length = strlen(*list);
        bool prefix = length > 0 && (*list)[length - 1] == '*';

        if (prefix ? strncmp(name, *list, length - 1) == 0 : strcmp(name, *list) == 0)
            return true;
    }
    return false;
}

/* Addresses. */

/* The bytes at [address, address + size), or NULL unless one segment's file part holds them all. */
static const unsigned char *
at(const struct image *image, uint64_t address, uint64_t size, bool must_be_constant)
{
    for (unsigned i = 0; i < image->header_count; i++) {
        const Elf64_Phdr *header = &image->headers[i];

        if (header->p_type != PT_LOAD || address < header->p_vaddr ||
            address - header->p_vaddr >= header->p_filesz)
            continue;
        if (size > header->p_filesz - (address - header->p_vaddr) ||
            (must_be_constant && (header->p_flags & PF_W)))
            return NULL;
        return image->bytes + header->p_offset + (address - header->p_vaddr);
    }
    return NULL;
}

static bool
in_segment(const struct image *image, uint64_t address, uint64_t size, uint32_t flag)
{
    for (unsigned i = 0; i < image->header_count; i++) {
        const Elf64_Phdr *header = &image->headers[i];

        if (header->p_type == PT_LOAD && (header->p_flags & flag) && address >= header->p_vaddr &&
            size <= header->p_memsz && address - header->p_vaddr <= header->p_memsz - size)
            return true;
    }
    return false;
}

/* Header and segments. */

static bool
read_header(struct image *image)
{
    Elf64_Ehdr header;

    if (image->count < sizeof header)
        return refuse(image, "not an object: only %zu bytes", image->count);
    memcpy(&header, image->bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != MACHINE)
        return refuse(image, "not an object of this machine");
    if (header.e_type != ET_DYN)
        return refuse(image, "not a shared object");
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
        header.e_phnum > HEADERS_MOST || header.e_phoff > image->count ||
        header.e_phnum * sizeof(Elf64_Phdr) > image->count - header.e_phoff)
        return refuse(image, "its program headers are broken");
    image->header_count = header.e_phnum;
    memcpy(image->headers, image->bytes + header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
    return true;
}

static bool
check_load(struct image *image, const Elf64_Phdr *header, uint64_t *end)
{
    uint64_t limit = (uint64_t)1 << 40;

    if (header->p_filesz > header->p_memsz || header->p_offset > image->count ||
        header->p_filesz > image->count - header->p_offset || header->p_vaddr > limit ||
        header->p_memsz > limit || header->p_align > (1u << 21) ||
        header->p_offset % PAGE != header->p_vaddr % PAGE)
        return refuse(image, "a segment is broken");
    if ((header->p_flags & PF_W) && (header->p_flags & PF_X))
        return refuse(image, "a segment is writable and executable");
    if (header->p_vaddr / PAGE * PAGE < *end)
        return refuse(image, "segments overlap or are out of order");
    *end = (header->p_vaddr + header->p_memsz + PAGE - 1) / PAGE * PAGE;
    image->audit->loaded_bytes += header->p_memsz;
    if (header->p_flags & PF_W)
        image->audit->writable_bytes += header->p_memsz;
    return true;
}

static bool
check_segments(struct image *image)
{
    bool stack = false;
    uint64_t end = 0;

    for (unsigned i = 0; i < image->header_count; i++) {
        const Elf64_Phdr *header = &image->headers[i];

        switch (header->p_type) {
        case PT_LOAD:
            if (!check_load(image, header, &end))
                return false;
            break;
        case PT_GNU_STACK:
            stack = true;
            if (header->p_flags & PF_X)
                return refuse(image, "it asks for an executable stack");
            break;
        case PT_INTERP:
            return refuse(image, "it names a program interpreter");
        case PT_DYNAMIC:
        case PT_NOTE:
        case PT_TLS:
        case PT_GNU_EH_FRAME:
        case PT_GNU_RELRO:
        case PT_GNU_PROPERTY:
        case PT_NULL:
            break;
        default:
            return refuse(image, "a segment of unknown kind 0x%x", header->p_type);
        }
    }
    return stack || refuse(image, "it does not say that its stack is not executable");
}

/* The dynamic section. */

static const char *
string_at(const struct dynamic *dynamic, uint64_t offset)
{
    return offset < dynamic->strsz ? dynamic->strings + offset : NULL;
}

/* Entries that run code, change where libraries come from, or are simply not known. */
static const char *
bad_entry(int64_t tag)
{
    switch (tag) {
    case DT_INIT:
    case DT_INIT_ARRAY:
    case DT_INIT_ARRAYSZ:
    case DT_PREINIT_ARRAY:
    case DT_PREINIT_ARRAYSZ:
        return "a constructor: code that runs on loading";
    case DT_FINI:
    case DT_FINI_ARRAY:
    case DT_FINI_ARRAYSZ:
        return "a destructor: code that runs on unloading";
    case DT_RPATH:
    case DT_RUNPATH:
        return "a search path for libraries";
    case DT_AUDIT:
    case DT_DEPAUDIT:
    case DT_FILTER:
    case DT_AUXILIARY:
        return "an audit or filter library";
    case DT_TEXTREL:
        return "relocations of its code";
    default:
        return NULL;
    }
}

static bool
known_entry(int64_t tag)
{
    static const int64_t known[] = {
        DT_SONAME,    DT_HASH,     DT_SYMENT,  DT_RELAENT,    DT_RELACOUNT, DT_PLTREL,
        DT_PLTGOT,    DT_FLAGS_1,  DT_VERNEED, DT_VERNEEDNUM, DT_VERSYM,    DT_VERDEF,
        DT_VERDEFNUM, DT_BIND_NOW, DT_DEBUG,   DT_FLAGS,
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i] == tag)
            return true;
    return false;
}

static uint64_t *
place_of(struct dynamic *dynamic, int64_t tag)
{
    switch (tag) {
    case DT_STRTAB:
        return &dynamic->strtab;
    case DT_STRSZ:
        return &dynamic->strsz;
    case DT_SYMTAB:
        return &dynamic->symtab;
    case DT_GNU_HASH:
        return &dynamic->gnu_hash;
    case DT_RELA:
        return &dynamic->rela;
    case DT_RELASZ:
        return &dynamic->relasz;
    case DT_JMPREL:
        return &dynamic->jmprel;
    case DT_PLTRELSZ:
        return &dynamic->pltrelsz;
    default:
        return NULL;
    }
}

static bool
check_value(struct image *image, const Elf64_Dyn *entry)
{
    if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL))
        return refuse(image, "it has relocations of its code");
    if ((entry->d_tag == DT_SYMENT && entry->d_un.d_val != sizeof(Elf64_Sym)) ||
        (entry->d_tag == DT_RELAENT && entry->d_un.d_val != sizeof(Elf64_Rela)) ||
        (entry->d_tag == DT_PLTREL && entry->d_un.d_val != DT_RELA))
        return refuse(image, "its tables have entries of another size");
    return true;
}

static bool
read_entry(struct image *image, struct dynamic *dynamic, const Elf64_Dyn *entry)
{
    const char *bad = bad_entry(entry->d_tag);
    uint64_t *place = place_of(dynamic, entry->d_tag);

    if (bad)
        return refuse(image, "it has %s", bad);
    if (entry->d_tag == DT_NEEDED)
        return true;
    if (!place && !known_entry(entry->d_tag))
        return refuse(image, "a dynamic entry of unknown kind 0x%llx",
                      (unsigned long long)entry->d_tag);
    if (entry->d_tag < 64) {
        if (dynamic->seen >> entry->d_tag & 1)
            return refuse(image, "dynamic entry %d comes twice", (int)entry->d_tag);
        dynamic->seen |= (uint64_t)1 << entry->d_tag;
    }
    if (place && *place != 0)
        return refuse(image, "dynamic entry 0x%llx comes twice", (unsigned long long)entry->d_tag);
    if (place)
        *place = entry->d_un.d_val;
    return check_value(image, entry);
}

/* The entries, in a copy: at most ENTRIES_MOST, ended by DT_NULL. */
static bool
read_entries(struct image *image, Elf64_Dyn *entries, unsigned *count)
{
    const Elf64_Phdr *header = NULL;

    for (unsigned i = 0; i < image->header_count; i++)
        if (image->headers[i].p_type == PT_DYNAMIC) {
            if (header)
                return refuse(image, "it has two dynamic sections");
            header = &image->headers[i];
        }
    if (!header)
        return refuse(image, "it has no dynamic section");
    for (*count = 0; *count < ENTRIES_MOST; (*count)++) {
        const void *entry =
            at(image, header->p_vaddr + *count * sizeof *entries, sizeof *entries, false);

        if (!entry)
            return refuse(image, "its dynamic section is broken");
        memcpy(&entries[*count], entry, sizeof *entries);
        if (entries[*count].d_tag == DT_NULL)
            return true;
    }
    return refuse(image, "its dynamic section is too long");
}

static bool
check_dynamic(struct image *image, struct dynamic *dynamic)
{
    Elf64_Dyn entries[ENTRIES_MOST];
    unsigned count = 0;

    if (!read_entries(image, entries, &count))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!read_entry(image, dynamic, &entries[i]))
            return false;
    dynamic->strings = (const char *)at(image, dynamic->strtab, dynamic->strsz, true);
    if (!dynamic->strings || dynamic->strsz == 0 || dynamic->strings[dynamic->strsz - 1] != '\0')
        return refuse(image, "its table of names is broken");
    for (unsigned i = 0; i < count; i++) {
        const char *name =
            entries[i].d_tag == DT_NEEDED ? string_at(dynamic, entries[i].d_un.d_val) : "libc.so.6";

        if (!name)
            return refuse(image, "the name of a library is broken");
        if (entries[i].d_tag == DT_NEEDED && !on_list(name, image->rules->needed))
            return refuse(image, "it needs the library %.100s", name);
    }
    return true;
}

/* Symbols. */

static bool
symbol_at(struct image *image, const struct dynamic *dynamic, uint64_t number, Elf64_Sym *symbol,
          const char **name)
{
    const void *place = number < (1u << 24) ? at(image, dynamic->symtab + number * sizeof *symbol,
                                                 sizeof *symbol, true)
                                            : NULL;

    if (!place)
        return refuse(image, "its table of symbols is broken");
    memcpy(symbol, place, sizeof *symbol);
    *name = string_at(dynamic, symbol->st_name);
    if (!*name)
        return refuse(image, "the name of a symbol is broken");
    if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
        return refuse(image, "symbol %.100s is indirect: code that runs on loading", *name);
    return true;
}

static bool
hash_word(struct image *image, uint64_t address, uint32_t *word)
{
    const void *place = at(image, address, sizeof *word, true);

    if (!place)
        return refuse(image, "its table of hashes is broken");
    memcpy(word, place, sizeof *word);
    return true;
}

/* One more than the highest number of a symbol: the loader knows no other way to count them. */
static bool
count_symbols(struct image *image, const struct dynamic *dynamic, uint64_t *count)
{
    uint32_t head[4] = {0}, highest = 0, word = 0;
    uint64_t buckets, chain;

    for (unsigned i = 0; i < 4; i++)
        if (!hash_word(image, dynamic->gnu_hash + 4 * i, &head[i]))
            return false;
    if (head[0] == 0 || head[0] > (1u << 20) || head[2] > (1u << 20) || head[1] > (1u << 24))
        return refuse(image, "its table of hashes is broken");
    buckets = dynamic->gnu_hash + 16 + 8 * (uint64_t)head[2];
    chain = buckets + 4 * (uint64_t)head[0];
    for (uint32_t i = 0; i < head[0]; i++) {
        if (!hash_word(image, buckets + 4 * (uint64_t)i, &word))
            return false;
        highest = word > highest ? word : highest;
    }
    if (highest < head[1]) {
        *count = head[1];
        return true;
    }
    do {
        if (!hash_word(image, chain + 4 * (uint64_t)(highest - head[1]), &word))
            return false;
        highest++;
    } while (!(word & 1));
    *count = highest;
    return true;
}

static bool
check_symbol(struct image *image, const Elf64_Sym *symbol, const char *name)
{
    const char *const *exports = image->rules->exports;

    if (symbol->st_shndx == SHN_UNDEF)
        return on_list(name, image->rules->undefined) ||
               refuse(image, "it uses %.100s, which is not on the list of what it may", name);
    if (ELF64_ST_BIND(symbol->st_info) == STB_LOCAL)
        return true;
    if (!on_list(name, exports))
        return refuse(image, "it exports %.100s", name);
    if (symbol->st_shndx >= SHN_LORESERVE) /* an absolute address is not moved with the object */
        return refuse(image, "its symbol %.100s is no function of its own", name);
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !in_segment(image, symbol->st_value, 1, PF_X))
        return refuse(image, "%.100s is not a function", name);
    return true;
}

static bool
check_exports(struct image *image, const struct dynamic *dynamic, uint64_t count)
{
    for (const char *const *wanted = image->rules->exports; *wanted; wanted++) {
        bool found = false;

        for (uint64_t i = 1; i < count && !found; i++) {
            Elf64_Sym symbol;
            const char *name;

            if (!symbol_at(image, dynamic, i, &symbol, &name))
                return false;
            found = symbol.st_shndx != SHN_UNDEF && strcmp(name, *wanted) == 0;
        }
        if (!found)
            return refuse(image, "it has no function %.100s", *wanted);
    }
    return true;
}

static bool
check_symbols(struct image *image, const struct dynamic *dynamic)
{
    uint64_t count = 0;

    if (!count_symbols(image, dynamic, &count))
        return false;
    for (uint64_t i = 1; i < count; i++) {
        Elf64_Sym symbol;
        const char *name;

        if (!symbol_at(image, dynamic, i, &symbol, &name) || !check_symbol(image, &symbol, name))
            return false;
    }
    return check_exports(image, dynamic, count);
}

/* Relocations. */

static bool
known_relocation(uint32_t kind)
{
#if defined(__x86_64__)
    switch (kind) {
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
    case R_X86_64_RELATIVE:
    case R_X86_64_DTPMOD64:
    case R_X86_64_DTPOFF64:
    case R_X86_64_TPOFF64:
        return true;
    }
    return false;
#else
    return kind != R_AARCH64_IRELATIVE && kind != R_AARCH64_COPY;
#endif
}

static bool
check_relocation(struct image *image, const struct dynamic *dynamic, const Elf64_Rela *relocation)
{
    uint32_t kind = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    uint64_t number = ELF64_R_SYM(relocation->r_info);
    Elf64_Sym symbol;
    const char *name;

#if defined(__x86_64__)
    if (kind == R_X86_64_IRELATIVE)
        return refuse(image, "an indirect function: code that runs on loading");
#endif
    if (!known_relocation(kind))
        return refuse(image, "a relocation of unknown kind %u", kind);
    if (!in_segment(image, relocation->r_offset, 8, PF_W))
        return refuse(image, "a relocation of what is not writable");
    if (number == 0)
        return true;
    return symbol_at(image, dynamic, number, &symbol, &name) && check_symbol(image, &symbol, name);
}

static bool
check_relocations(struct image *image, const struct dynamic *dynamic, uint64_t address,
                  uint64_t bytes)
{
    const unsigned char *table = bytes > 0 ? at(image, address, bytes, true) : image->bytes;

    if (!table || bytes % sizeof(Elf64_Rela) != 0)
        return refuse(image, "its table of relocations is broken");
    for (uint64_t i = 0; i < bytes; i += sizeof(Elf64_Rela)) {
        Elf64_Rela relocation;

        memcpy(&relocation, table + i, sizeof relocation);
        if (!check_relocation(image, dynamic, &relocation))
            return false;
    }
    return true;
}

bool
box_audit(const void *bytes, size_t count, const struct box_audit_rules *rules,
          struct box_audit *audit)
{
    struct image image = {.bytes = bytes, .count = count, .rules = rules, .audit = audit};
    struct dynamic dynamic = {0};

    *audit = (struct box_audit){{0}, 0, 0};
    return read_header(&image) && check_segments(&image) && check_dynamic(&image, &dynamic) &&
           check_symbols(&image, &dynamic) &&
           check_relocations(&image, &dynamic, dynamic.rela, dynamic.relasz) &&
           check_relocations(&image, &dynamic, dynamic.jmprel, dynamic.pltrelsz);
}
