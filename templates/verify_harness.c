/* Runs golden cases against emitted layers: one child process for each case and target, so that a
   crash is that case's alone. Plain C on purpose: it judges, so no flag meant for a layer reaches
   it. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify_parts.h"

enum { SECONDS = 600 };

/* 0xff is a NaN in every float, 0x7f is 3.4e38. */
static const struct run runs[] = {
    {"forward", 0xff, 0, 0, 0, 0},
    {"forward again", 0x7f, 0, 0, 1, 0},
    {"by stages", 0xff, 1, 0, 0, 3},
    {"in place", 0x7f, 0, 1, 0, 0},
};
enum { RUNS = sizeof runs / sizeof runs[0] };

static void run_sequence(const struct verify_case *c, struct error *error) {
  uint32_t *got[RUNS][MOST_TENSORS];
  for (size_t r = 0; r < RUNS; r++) {
    run_once(c, &runs[r], got[r]);
    for (size_t i = 0; i < c->tensor_count; i++) {
      if (!got[r][i]) continue;
      if (c->tensors[i].stored) check_wanted(&c->tensors[i], got[r][i], error);
      if (r > 0 && (now->target->exact || runs[r].repeats))
        check_same(&c->tensors[i], got[r][i], got[0][i]);
    }
  }
  for (size_t r = 0; r < RUNS; r++)
    for (size_t i = 0; i < c->tensor_count; i++) free(got[r][i]);
}

/* Packs twice over different bytes: the packed form has no byte that is left as it was. */
static struct buffer packed_weights(const struct verify_case *c) {
  struct buffer loaded[MOST_TENSORS], packed[2];
  float *floats[MOST_TENSORS];
  now->step = "pack";
  for (size_t i = 0; i < c->load_count; i++) {
    const struct verify_load *l = &c->loads[i];
    const size_t span = l->blocks && l->length ? (l->blocks - 1) * l->step + l->length : 0;
    unsigned char *stored = stored_bytes(l->offset, 4 * span, l->role);
    loaded[i] = buffer_of(4 * l->blocks * l->length, 4, 0xff);
    floats[i] = (float *)(void *)loaded[i].data;
    for (size_t n = 0; n < l->blocks * l->length; n++) {
      const uint32_t word = word_at(stored + 4 * (n / l->length * l->step + n % l->length));
      memcpy(loaded[i].data + 4 * n, &word, 4);
    }
    free(stored);
    keep(&loaded[i]);
  }
  for (int i = 0; i < 2; i++) {
    packed[i] = buffer_of(c->packed_bytes, BLOCK, i ? 0x7f : 0xff);
    check(c->pack(floats, packed[i].data), "pack");
    check_buffer(&packed[i], "packed");
  }
  for (size_t i = 0; i < c->load_count; i++) {
    check_buffer(&loaded[i], c->loads[i].role);
    release(&loaded[i]);
  }
  for (size_t i = 0; i < c->packed_bytes; i++)
    if (packed[0].data[i] != packed[1].data[i]) fail("packed: byte %zu was not written", i);
  release(&packed[1]);
  keep(&packed[0]);
  return packed[0];
}

static void run_case(const struct verify_case *c) {
  struct error error = {0, 0};
  struct buffer packed = packed_weights(c);
  now->step = "open";
  const int status = c->open(packed.data, now->target->number);
  if (status == c->unavailable) {
    printf("skip\t%u\t%s\n", c->number, now->target->name);
  } else {
    check(status, "open");
    for (now->sequence = 0; now->sequence < c->batch; now->sequence++) run_sequence(c, &error);
    check_buffer(&packed, "packed");
    printf("ok\t%u\t%s\t%.2g\t%.2g\n", c->number, now->target->name, error.absolute,
           error.relative);
  }
  fflush(stdout);
}

/* What a case says on stderr (a sanitizer's report) goes to a file of its own. */
static void redirect_errors(void) {
  char name[80];
  snprintf(name, sizeof name, "case_%u.%s.stderr", now->this_case->number, now->target->name);
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file >= 0) dup2(file, STDERR_FILENO);
}

static void in_child(void) {
  fflush(stdout);
  const pid_t child = fork();
  int status = 0;
  if (child == 0) {
    redirect_errors();
    alarm(SECONDS);
    run_case(now->this_case);
    _exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) status = -1;
  const char *how = status != -1 && WIFSIGNALED(status) ? "signal" : "exit";
  const int number = status == -1          ? 255
                     : WIFSIGNALED(status) ? WTERMSIG(status)
                                           : WEXITSTATUS(status);
  printf("end\t%u\t%s\t%s\t%d\t%s\n", now->this_case->number, now->target->name, how, number,
         now->step);
}

static struct verify_case *first;

void verify_enter(struct verify_case *given) {
  struct verify_case **at = &first;
  while (*at && (*at)->number < given->number) at = &(*at)->next;
  given->next = *at;
  *at = given;
}

int main(void) {
  now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (now == MAP_FAILED) return 1;
  for (const struct verify_case *c = first; c; c = c->next)
    for (size_t i = 0; i < c->target_count; i++) {
      now->this_case = c;
      now->target = &c->targets[i];
      now->step = "start";
      in_child();
    }
  return 0;
}
