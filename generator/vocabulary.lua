--- The words that kernels are written in: what each takes, gives and means.
-- A word works on one vector of `lanes` floats; targets say how a machine does it, and a target
-- that says nothing of a word that is composed here uses the composition. Knows no machine.

local vocabulary = {}

--- The words in the order they are printed: {name, result, parameters, meaning}. A word that is
-- `counted` is printed once for each literal count n that a text uses, as vec_<name>_<n>; one with
-- a `template` is composed of others.
vocabulary.words = {
  { "zero", "vec", "void", "all lanes 0" },
  { "splat", "vec", "float a", "all lanes a" },
  { "load", "vec", "const float *p", "lane i is p[i]" },
  { "store", "void", "float *p, vec a", "p[i] is lane i" },
  { "load", "vec", "const float *p", "lane i is p[i] below n, else 0; reads n floats",
    counted = true },
  { "store", "void", "float *p, vec a", "writes the first n lanes", counted = true },
  { "held", "vec", "vec a", "a, in a register for all its uses", template = "words/held.c.in" },
  { "add", "vec", "vec a, vec b", "a + b" },
  { "sub", "vec", "vec a, vec b", "a - b" },
  { "mul", "vec", "vec a, vec b", "a * b" },
  { "div", "vec", "vec a, vec b", "a / b" },
  { "fma", "vec", "vec a, vec b, vec c", "a * b + c, rounded once where the machine can" },
  { "max", "vec", "vec a, vec b", "a where a > b, else b (b where a is NaN)" },
  { "absolute", "vec", "vec a", "a without its sign" },
  { "round", "vec", "vec a", "the nearest integer, for |a| < 2^22" },
  { "scale2", "vec", "vec a, vec n", "a * 2^n for integers n from -126 to 127" },
  { "zero_below", "vec", "vec a, vec x, float low", "a, but 0 where x < low (a where x is NaN)" },
  { "less", "vec", "vec a, vec b", "bits all one where a < b, else 0" },
  { "same_bits", "vec", "vec a, int32_t bits", "bits all one where a has these bits, else 0" },
  { "overflow", "vec", "vec a",
    "bits all one where a is an infinity or NaN, else 0; no arithmetic" },
  { "both", "vec", "vec a, vec b", "the bits set in both" },
  { "either", "vec", "vec a, vec b", "the bits set in one or both" },
  { "without", "vec", "vec a, vec b", "the bits of a that are not set in b" },
  { "pick", "vec", "vec keep, vec a, vec b", "the bits of a where keep is set, of b elsewhere" },
  { "load_bits", "vec", "const int32_t *p", "lane i has the bits of p[i]" },
  { "store_bits", "void", "int32_t *p, vec a", "p[i] is the bits of lane i" },
  { "load_flags", "vec", "const uint8_t *p", "bits all one where p[i] is not 0, else 0" },
  { "transpose", "void", "const float *x, ptrdiff_t x_row, float *y",
    "y[16 j + i] is x[x_row i + j] for i, j < 8" },
  { "any", "int", "vec a", "whether a bit is set in any lane" },
  { "sum", "float", "vec a", "the sum of the lanes, halves first" },
  { "top", "float", "vec a", "the largest lane" },
  { "sums", "vec", "const float *p", "lane r is the sum of vector r at p for r < 4, else 0",
    template = "words/sums.c.in" },
  { "tops", "vec", "const float *p", "lane r is the largest of vector r at p for r < 4, else 0",
    template = "words/tops.c.in" },
  { "exp", "vec", "vec x", "e^x for x <= 0, at most 2 ulp; 0 below ln(FLT_MIN); NaN of NaN",
    template = "words/exp.c.in" },
  { "exp2", "vec", "vec x", "2^x for x <= 0, at most 2 ulp; 0 below -126; NaN of NaN",
    template = "words/exp2.c.in" },
  { "tanh", "vec", "vec x", "tanh x, at most 4 ulp; NaN of NaN", template = "words/tanh.c.in" },
}

--- The name of a word in a target's file.
-- @tparam table word one of vocabulary.words
-- @treturn string
function vocabulary.key(word) return word.counted and word[1] .. "_part" or word[1] end

--- Tables that kernels read, printed where a text names them: `value(i)` is element i.
vocabulary.tables = {
  { name = "minus_infinity", text = "minus infinity, as bits",
    ctype = "int32_t", value = function() return "INT32_MIN | 0x7f800000" end, count = 16 },
  { name = "first_lanes", text = "first_lanes + 16 - n: the first n lanes",
    ctype = "int32_t", value = function(i) return i < 16 and "-1" or "0" end, count = 32 },
  { name = "lanes_from", text = "lanes_from + 16 - n: all lanes but the first n",
    ctype = "int32_t", value = function(i) return i < 16 and "0" or "-1" end, count = 32 },
  { name = "lane_number", text = "the number of each lane",
    ctype = "float", value = function(i) return i .. ".0f" end, count = 16 },
}

return vocabulary
