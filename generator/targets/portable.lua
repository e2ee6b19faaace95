--- Portable C: 16 lanes in as few machine vectors as the compiler's flags allow, or in plain
-- floats. It defines what each word means; the other targets are judged by it.

local preamble <const> = [[
#if defined(__GNUC__)
#if defined(__AVX512F__)
enum { PART = 16 };
#define EACH_PART(...) { enum { i = 0 }; __VA_ARGS__ }
#elif defined(__AVX__)
enum { PART = 8 };
#define EACH_PART(...) { enum { i = 0 }; __VA_ARGS__ } { enum { i = 1 }; __VA_ARGS__ }
#else
enum { PART = 4 };
#define EACH_PART(...) { enum { i = 0 }; __VA_ARGS__ } { enum { i = 1 }; __VA_ARGS__ } \
  { enum { i = 2 }; __VA_ARGS__ } { enum { i = 3 }; __VA_ARGS__ }
#endif
typedef float part __attribute__((vector_size(4 * PART)));
typedef int32_t part_bits __attribute__((vector_size(4 * PART)));
typedef float part_at __attribute__((vector_size(4 * PART), aligned(4), may_alias));
typedef int32_t part_bits_at __attribute__((vector_size(4 * PART), aligned(4), may_alias));
#define BITS(a) ((part_bits)(a))
#define FLOATS(a) ((part)(a))
#define WHERE(condition) ((part_bits)(condition))
#define INTEGERS(a) __builtin_convertvector(a, part_bits)
#define NUMBERS(a) __builtin_convertvector(a, part)
#else
enum { PART = 1 };
#define EACH_FOUR(n, ...) { enum { i = n }; __VA_ARGS__ } { enum { i = n + 1 }; __VA_ARGS__ } \
  { enum { i = n + 2 }; __VA_ARGS__ } { enum { i = n + 3 }; __VA_ARGS__ }
#define EACH_PART(...) EACH_FOUR(0, __VA_ARGS__) EACH_FOUR(4, __VA_ARGS__) \
  EACH_FOUR(8, __VA_ARGS__) EACH_FOUR(12, __VA_ARGS__)
typedef float part;
typedef int32_t part_bits;
typedef float part_at;
typedef int32_t part_bits_at;
typedef union { float f; int32_t i; } part_pun;
#define BITS(a) (((part_pun){ .f = (a) }).i)
#define FLOATS(a) (((part_pun){ .i = (a) }).f)
#define WHERE(condition) (-(part_bits)(condition))
#define INTEGERS(a) ((part_bits)(a))
#define NUMBERS(a) ((part)(a))
#endif
typedef struct { part at[16 / PART]; } vec;
]]

--- One statement for each part, result r.
local function each(statement) return "vec r; EACH_PART(" .. statement .. ") return r;" end

--- The lanes in an array, halves folded onto each other: the order of a horizontal sum.
local function fold(combine)
  local lines = { "float x[16]; EACH_PART(*(part_at *)(x + i * PART) = a.at[i];)" }
  for _, half in ipairs { 8, 4, 2, 1 } do
    for i = 0, half - 1 do lines[#lines + 1] = combine:gsub("I", i):gsub("J", i + half) end
  end
  lines[#lines + 1] = "return x[0];"
  return table.concat(lines, "\n")
end

return {
  name = "portable", lanes = 16, registers = 8, fma = false,
  -- 6 x 16 and what goes with it fit the 16 vectors of AVX and the 32 of AVX-512 alike; gcc and
  -- clang both keep them in registers
  preamble = preamble,
  words = {
    zero = "return vec_splat(0.0f);",
    splat = each "r.at[i] = a - (part){ 0 };",
    load = each "r.at[i] = *(const part_at *)(p + i * PART);",
    store = "EACH_PART(*(part_at *)(p + i * PART) = a.at[i];)",
    load_part = function(n)
      local lines = { "float x[16];" }
      for i = 0, 15 do
        lines[#lines + 1] = ("x[%d] = %s;"):format(i, i < n and "p[" .. i .. "]" or "0.0f")
      end
      lines[#lines + 1] = "return vec_load(x);"
      return table.concat(lines, "\n")
    end,
    store_part = function(n)
      local lines = { "float x[16];", "vec_store(x, a);" }
      for i = 0, n - 1 do lines[#lines + 1] = ("p[%d] = x[%d];"):format(i, i) end
      return table.concat(lines, "\n")
    end,
    add = each "r.at[i] = a.at[i] + b.at[i];",
    sub = each "r.at[i] = a.at[i] - b.at[i];",
    mul = each "r.at[i] = a.at[i] * b.at[i];",
    div = each "r.at[i] = a.at[i] / b.at[i];",
    fma = each "r.at[i] = a.at[i] * b.at[i] + c.at[i];",
    max = [[
vec r;
EACH_PART(
  const part_bits above = WHERE(a.at[i] > b.at[i]);
  r.at[i] = FLOATS((BITS(a.at[i]) & above) | (BITS(b.at[i]) & ~above));
)
return r;]],
    absolute = each "r.at[i] = FLOATS(BITS(a.at[i]) & 0x7fffffff);",
    -- through integers, which -ffast-math leaves alone, rather than by adding a large number; the
    -- half is the float below 1/2, for what is just below 1/2 would else be rounded up to 1
    round = [[
vec r;
EACH_PART(
  const part half = FLOATS((BITS(a.at[i]) & INT32_MIN) | 0x3effffff);
  const part_bits n = INTEGERS(a.at[i] + half);
  r.at[i] = NUMBERS(n);
)
return r;]],
    scale2 = each "r.at[i] = a.at[i] * FLOATS((INTEGERS(n.at[i]) + 127) << 23);",
    zero_below = each "r.at[i] = FLOATS(BITS(a.at[i]) & ~WHERE(x.at[i] < low));",
    less = each "r.at[i] = FLOATS(WHERE(a.at[i] < b.at[i]));",
    same_bits = each "r.at[i] = FLOATS(WHERE(BITS(a.at[i]) == bits));",
    overflow = each "r.at[i] = FLOATS(WHERE((BITS(a.at[i]) & 0x7f800000) == 0x7f800000));",
    both = each "r.at[i] = FLOATS(BITS(a.at[i]) & BITS(b.at[i]));",
    either = each "r.at[i] = FLOATS(BITS(a.at[i]) | BITS(b.at[i]));",
    without = each "r.at[i] = FLOATS(BITS(a.at[i]) & ~BITS(b.at[i]));",
    pick = "return vec_either(vec_both(keep, a), vec_without(b, keep));",
    load_bits = each "r.at[i] = FLOATS(*(const part_bits_at *)(p + i * PART));",
    store_bits = "EACH_PART(*(part_bits_at *)(p + i * PART) = BITS(a.at[i]);)",
    load_flags = (function()
      local lines = { "int32_t x[16];" }
      for i = 0, 15 do lines[#lines + 1] = ("x[%d] = -(p[%d] != 0);"):format(i, i) end
      lines[#lines + 1] = "return vec_load_bits(x);"
      return table.concat(lines, "\n")
    end)(),
    transpose = [[
#define ROW(i) y[i] = x[0]; y[16 + i] = x[1]; y[32 + i] = x[2]; y[48 + i] = x[3]; \
  y[64 + i] = x[4]; y[80 + i] = x[5]; y[96 + i] = x[6]; y[112 + i] = x[7]; x += x_row;
ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7)
#undef ROW]],
    any = (function()
      local lines = {}
      for i = 0, 15 do lines[#lines + 1] = "x[" .. i .. "]" end
      return ("int32_t x[16];\nvec_store_bits(x, a);\nreturn (%s) != 0;")
        :format(table.concat(lines, " | "))
    end)(),
    sum = fold "x[I] += x[J];",
    top = fold "x[I] = x[I] > x[J] ? x[I] : x[J];",
  },
}
