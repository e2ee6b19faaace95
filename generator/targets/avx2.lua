--- AVX2 with FMA: 8 lanes, 16 registers. Nothing here is newer, so no EVEX encoding can appear
-- unless the compiler's flags ask for it.

local function bits(operation)
  return ("return _mm256_castsi256_ps(%s);"):format(operation)
end

--- Up to four floats at p + at, zeros above them.
local function four(n, at)
  local single = ("_mm_load_ss(p + %d)"):format(at + n - 1)
  local pair = ("_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)(p + %d)))")
    :format(at)
  return ({
    [0] = "_mm_setzero_ps()", single, pair, ("_mm_movelh_ps(%s,\n%s)"):format(pair, single),
    ("_mm_loadu_ps(p + %d)"):format(at),
  })[n]
end

--- The first n floats at p. In pieces, not masked: emulators read what a mask leaves out, and CPUs
-- take long where that is no memory; a masked store takes some AMD CPUs a dozen cycles.
local function pieces(n)
  assert(n < 8)
  return ("_mm256_set_m128(%s,\n%s)"):format(four(math.max(n - 4, 0), 4), four(math.min(n, 4), 0))
end

--- Halves folded onto each other: the order of a horizontal sum.
local function fold(combine)
  return ([[
const __m128 four = COMBINE_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
const __m128 two = COMBINE_ps(four, _mm_movehl_ps(four, four));
return _mm_cvtss_f32(COMBINE_ss(two, _mm_shuffle_ps(two, two, 1)));]]):gsub("COMBINE", combine)
end

--- Four vectors folded at once, in the same order as one: halves, pairs, the last two.
local function fold_4(combine)
  local text = [[
const __m256 a = _mm256_loadu_ps(p), b = _mm256_loadu_ps(p + 8);
const __m256 c = _mm256_loadu_ps(p + 16), d = _mm256_loadu_ps(p + 24);
const __m256 ab = COMBINE(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
const __m256 cd = COMBINE(_mm256_permute2f128_ps(c, d, 0x20), _mm256_permute2f128_ps(c, d, 0x31));
const __m256 two = COMBINE(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee));
const __m256 one = COMBINE(two, _mm256_permute_ps(two, 0xb1));
const __m128 ac = _mm256_castps256_ps128(one), bd = _mm256_extractf128_ps(one, 1);
const __m128 first = _mm_unpacklo_ps(ac, bd), second = _mm_unpackhi_ps(ac, bd);
return _mm256_zextps128_ps256(_mm_movelh_ps(first, second));]]
  return (text:gsub("COMBINE", "_mm256_" .. combine .. "_ps"))
end

--- The sum of a polynomial in r, highest term first.
local function polynomial(terms)
  local lines = { ("__m256 e = _mm256_set1_ps(%s);\n"):format(terms[1]) }
  for i = 2, #terms do
    lines[i] = ("e = _mm256_fmadd_ps(e, r, _mm256_set1_ps(%s));\n"):format(terms[i])
  end
  return table.concat(lines)
end

return {
  name = "avx2", lanes = 8, registers = 16, fma = true,
  attribute = "avx2,fma",
  guard = "defined(__x86_64__) && defined(__GNUC__)",
  headers = { "immintrin.h" },
  -- the builtin asks the OS for the registers' state, too
  test = [[
__builtin_cpu_init();
return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");]],
  preamble = "typedef __m256 vec;\n",
  words = {
    zero = "return _mm256_setzero_ps();",
    splat = "return _mm256_set1_ps(a);",
    load = "return _mm256_loadu_ps(p);",
    held = [[
__asm__("" : "+x"(a));
return a;]],
    store = "_mm256_storeu_ps(p, a);",
    load_part = function(n) return ("return %s;"):format(pieces(n)) end,
    store_part = function(n)
      local lines, at, from = {}, 0, "_mm256_castps256_ps128(a)"
      if n >= 4 then
        lines[1] = ("_mm_storeu_ps(p, %s);"):format(from)
        at, from = 4, "_mm256_extractf128_ps(a, 1)"
      end
      if n > at then lines[#lines + 1] = ("const __m128 four = %s;"):format(from) end
      if n - at >= 2 then
        lines[#lines + 1] = ("_mm_storel_pi((__m64 *)(void *)(p + %d), four);"):format(at)
      end
      if n % 2 == 1 then
        local lane = n - at == 3 and "_mm_movehl_ps(four, four)" or "four"
        lines[#lines + 1] = ("_mm_store_ss(p + %d, %s);"):format(n - 1, lane)
      end
      return table.concat(lines, "\n")
    end,
    add = "return _mm256_add_ps(a, b);",
    sub = "return _mm256_sub_ps(a, b);",
    mul = "return _mm256_mul_ps(a, b);",
    div = "return _mm256_div_ps(a, b);",
    fma = "return _mm256_fmadd_ps(a, b, c);",
    max = "return _mm256_max_ps(a, b);",
    absolute = bits "_mm256_and_si256(_mm256_castps_si256(a), _mm256_set1_epi32(0x7fffffff))",
    round = "return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);",
    scale2 = [[
const __m256i power = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
return _mm256_mul_ps(a, _mm256_castsi256_ps(_mm256_slli_epi32(power, 23)));]],
    zero_below = "return _mm256_andnot_ps(_mm256_cmp_ps(x, _mm256_set1_ps(low), _CMP_LT_OQ), a);",
    less = "return _mm256_cmp_ps(a, b, _CMP_LT_OQ);",
    same_bits = bits "_mm256_cmpeq_epi32(_mm256_castps_si256(a), _mm256_set1_epi32(bits))",
    overflow = [[
const __m256i top = _mm256_set1_epi32(0x7f800000);
const __m256i exponent = _mm256_and_si256(_mm256_castps_si256(a), top);
return _mm256_castsi256_ps(_mm256_cmpeq_epi32(exponent, top));]],
    both = "return _mm256_and_ps(a, b);",
    either = "return _mm256_or_ps(a, b);",
    without = "return _mm256_andnot_ps(b, a);",
    pick = "return _mm256_or_ps(_mm256_and_ps(keep, a), _mm256_andnot_ps(keep, b));",
    load_bits = bits "_mm256_loadu_si256((const __m256i *)(const void *)p)",
    store_bits = "_mm256_storeu_si256((__m256i *)(void *)p, _mm256_castps_si256(a));",
    load_flags = [[
const __m256i flags = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
return _mm256_castsi256_ps(_mm256_cmpgt_epi32(flags, _mm256_setzero_si256()));]],
    transpose = [[
const __m256 a0 = _mm256_loadu_ps(x), a1 = _mm256_loadu_ps(x + x_row);
const __m256 a2 = _mm256_loadu_ps(x + 2 * x_row), a3 = _mm256_loadu_ps(x + 3 * x_row);
const __m256 a4 = _mm256_loadu_ps(x + 4 * x_row), a5 = _mm256_loadu_ps(x + 5 * x_row);
const __m256 a6 = _mm256_loadu_ps(x + 6 * x_row), a7 = _mm256_loadu_ps(x + 7 * x_row);
const __m256 b0 = _mm256_unpacklo_ps(a0, a1), b1 = _mm256_unpackhi_ps(a0, a1);
const __m256 b2 = _mm256_unpacklo_ps(a2, a3), b3 = _mm256_unpackhi_ps(a2, a3);
const __m256 b4 = _mm256_unpacklo_ps(a4, a5), b5 = _mm256_unpackhi_ps(a4, a5);
const __m256 b6 = _mm256_unpacklo_ps(a6, a7), b7 = _mm256_unpackhi_ps(a6, a7);
const __m256 c0 = _mm256_shuffle_ps(b0, b2, 0x44), c1 = _mm256_shuffle_ps(b0, b2, 0xee);
const __m256 c2 = _mm256_shuffle_ps(b1, b3, 0x44), c3 = _mm256_shuffle_ps(b1, b3, 0xee);
const __m256 c4 = _mm256_shuffle_ps(b4, b6, 0x44), c5 = _mm256_shuffle_ps(b4, b6, 0xee);
const __m256 c6 = _mm256_shuffle_ps(b5, b7, 0x44), c7 = _mm256_shuffle_ps(b5, b7, 0xee);
_mm256_storeu_ps(y, _mm256_permute2f128_ps(c0, c4, 0x20));
_mm256_storeu_ps(y + 16, _mm256_permute2f128_ps(c1, c5, 0x20));
_mm256_storeu_ps(y + 32, _mm256_permute2f128_ps(c2, c6, 0x20));
_mm256_storeu_ps(y + 48, _mm256_permute2f128_ps(c3, c7, 0x20));
_mm256_storeu_ps(y + 64, _mm256_permute2f128_ps(c0, c4, 0x31));
_mm256_storeu_ps(y + 80, _mm256_permute2f128_ps(c1, c5, 0x31));
_mm256_storeu_ps(y + 96, _mm256_permute2f128_ps(c2, c6, 0x31));
_mm256_storeu_ps(y + 112, _mm256_permute2f128_ps(c3, c7, 0x31));]],
    any = "return !_mm256_testz_si256(_mm256_castps_si256(a), _mm256_castps_si256(a));",
    sum = fold "_mm_add",
    top = fold "_mm_max",
    sums = fold_4 "add",
    tops = fold_4 "max",
    exp = [[
/* e^x = 2^n * e^r, n = round(x / ln 2), |r| <= ln 2 / 2; ln 2 in two parts. The polynomial is */
/* the minimax one of degree 5 with 1 at 0; n is added to the exponent: e^x is normal or 0. */
const __m256i n = _mm256_cvtps_epi32(_mm256_mul_ps(x, _mm256_set1_ps(1.44269502f)));
const __m256 t = _mm256_cvtepi32_ps(n);
__m256 r = _mm256_fmadd_ps(t, _mm256_set1_ps(-0.693147182f), x);
r = _mm256_fmadd_ps(t, _mm256_set1_ps(1.90465421e-9f), r);
]] .. polynomial {
      "8.26592557e-3f", "4.18990590e-2f", "0.166681394f", "0.499991387f", "0.999999464f", "1.0f",
    } .. [[
e = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(e), _mm256_slli_epi32(n, 23)));
return _mm256_andnot_ps(_mm256_cmp_ps(x, _mm256_set1_ps(-87.3365402f), _CMP_LT_OQ), e);]],
    exp2 = [[
/* 2^x = 2^n * 2^r, n = round(x), |r| <= 1/2; the minimax polynomial of degree 5 with 1 at 0; */
/* n is added to the exponent: 2^x is normal or 0. */
const __m256i n = _mm256_cvtps_epi32(x);
const __m256 r = _mm256_sub_ps(x, _mm256_cvtepi32_ps(n));
]] .. polynomial {
      "1.32257072e-3f", "9.67173278e-3f", "5.55089153e-2f", "0.240222365f", "0.693146825f", "1.0f",
    } .. [[
e = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(e), _mm256_slli_epi32(n, 23)));
return _mm256_andnot_ps(_mm256_cmp_ps(x, _mm256_set1_ps(-126.0f), _CMP_LT_OQ), e);]],
  },
}
