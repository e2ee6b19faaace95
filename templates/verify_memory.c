/* Memory that tells on who misuses it, and the way out of a case that failed. */
#define _DEFAULT_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verify_parts.h"

enum { GUARD = 0xa5, GUARD_BYTES = 64 };

/* There where the program is linked with AddressSanitizer. */
extern void __asan_poison_memory_region(const volatile void *, size_t) __attribute__((weak));
extern void __asan_unpoison_memory_region(const volatile void *, size_t) __attribute__((weak));

struct now *now;

void fail(const char *format, ...) {
  va_list arguments;
  printf("fail\t%u\t%s\t", now->this_case->number, now->target->name);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf(" (%s", now->step);
  if (now->this_case->batch > 1) printf(", sequence %zu", now->sequence);
  printf(")\n");
  fflush(stdout);
  _exit(0);
}

void *memory(size_t bytes) {
  void *found = calloc(bytes ? bytes : 1, 1);
  if (!found) fail("out of memory: %zu bytes", bytes);
  return found;
}

void check(int status, const char *function) {
  if (status) fail("%s: status %d: %s", function, status, now->this_case->status_text(status));
}

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

static void poison(const struct buffer *b, int on) {
  const unsigned char *end = b->data + b->bytes, *body_end = b->body + b->body_bytes;
  if (!__asan_poison_memory_region || !__asan_unpoison_memory_region) return;
  if (on) {
    __asan_poison_memory_region(b->body, (size_t)(b->data - b->body));
    __asan_poison_memory_region(end, (size_t)(body_end - end));
  } else {
    __asan_unpoison_memory_region(b->body, b->body_bytes);
  }
}

struct buffer buffer_of(size_t bytes, size_t alignment, unsigned char fill) {
  struct buffer b = {0};
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  b.bytes = bytes;
  b.body_bytes = round_up(GUARD_BYTES + round_up(bytes, alignment), page);
  b.mapped = b.body_bytes + 2 * page;
  b.pages = mmap(NULL, b.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (b.pages == MAP_FAILED) fail("out of memory: %zu bytes", b.mapped);
  b.body = b.pages + page;
  b.data = b.body + b.body_bytes - round_up(bytes, alignment);
  memset(b.body, GUARD, b.body_bytes);
  memset(b.data, fill, bytes);
  if (mprotect(b.pages, page, PROT_NONE) || mprotect(b.body + b.body_bytes, page, PROT_NONE))
    fail("no page could be protected");
  poison(&b, 1);
  return b;
}

void keep(struct buffer *b) {
  b->copy = memory(b->bytes);
  memcpy(b->copy, b->data, b->bytes);
}

void check_buffer(const struct buffer *b, const char *role) {
  const unsigned char *end = b->data + b->bytes, *body_end = b->body + b->body_bytes;
  poison(b, 0);
  for (const unsigned char *at = b->body; at < b->data; at++)
    if (*at != GUARD) fail("%s: written %zu bytes before its buffer", role, (size_t)(b->data - at));
  for (const unsigned char *at = end; at < body_end; at++)
    if (*at != GUARD) fail("%s: written %zu bytes behind its buffer", role, (size_t)(at - end));
  poison(b, 1);
  for (size_t i = 0; b->copy && i < b->bytes; i++)
    if (b->copy[i] != b->data[i]) fail("%s: changed at byte %zu", role, i);
}

void release(struct buffer *b) {
  if (!b->pages) return;
  poison(b, 0);
  munmap(b->pages, b->mapped);
  free(b->copy);
  memset(b, 0, sizeof *b);
}

unsigned char *stored_bytes(uint64_t offset, size_t bytes, const char *role) {
  unsigned char *found = memory(bytes);
  FILE *file = fopen(now->this_case->file, "rb");
  if (!file || fseek(file, (long)offset, SEEK_SET) || fread(found, 1, bytes, file) != bytes)
    fail("%s: %s can not be read", role, now->this_case->file);
  fclose(file);
  return found;
}

uint32_t word_at(const unsigned char *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}
