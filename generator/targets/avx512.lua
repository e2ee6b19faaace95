--- AVX-512: 16 lanes, 32 registers. Instructions of the foundation (F) alone, so that every CPU
-- with AVX-512 runs it; bits are combined as integers, since F has no other way.

local avx2 = require "targets.avx2"

local function bits(operation)
  return ("return _mm512_castsi512_ps(%s);"):format(operation)
end

--- All bits of the lanes that a comparison names.
local function where(comparison)
  return bits(("_mm512_maskz_set1_epi32(%s, -1)"):format(comparison))
end

--- Halves folded onto each other: the order of a horizontal sum.
local function fold(combine)
  return ([[
const __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
const __m256 eight = _mm256_COMBINE_ps(_mm512_castps512_ps256(a), high);
const __m128 four = _mm_COMBINE_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
const __m128 two = _mm_COMBINE_ps(four, _mm_movehl_ps(four, four));
return _mm_cvtss_f32(_mm_COMBINE_ss(two, _mm_shuffle_ps(two, two, 1)));]]):gsub("COMBINE", combine)
end

--- Four vectors folded at once, in the same order as one: halves, quarters, pairs, the last two.
local function fold_4(combine)
  local text = [[
const __m512 a = _mm512_loadu_ps(p), b = _mm512_loadu_ps(p + 16);
const __m512 c = _mm512_loadu_ps(p + 32), d = _mm512_loadu_ps(p + 48);
const __m512 ab = COMBINE(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
const __m512 cd = COMBINE(_mm512_shuffle_f32x4(c, d, 0x44), _mm512_shuffle_f32x4(c, d, 0xee));
const __m512 four = COMBINE(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
const __m512 two = COMBINE(four, _mm512_permute_ps(four, 0x4e));
const __m512 one = COMBINE(two, _mm512_permute_ps(two, 0xb1));
const __m512i firsts = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 8, 4, 0);
return _mm512_maskz_permutexvar_ps(0x000f, firsts, one);]]
  return (text:gsub("COMBINE", "_mm512_" .. combine .. "_ps"))
end

--- The sum of a polynomial in r, highest term first.
local function polynomial(terms)
  local lines = { ("__m512 e = _mm512_set1_ps(%s);\n"):format(terms[1]) }
  for i = 2, #terms do
    lines[i] = ("e = _mm512_fmadd_ps(e, r, _mm512_set1_ps(%s));\n"):format(terms[i])
  end
  return table.concat(lines)
end

return {
  name = "avx512", lanes = 16, registers = 32, fma = true,
  attribute = "avx512f",
  guard = "defined(__x86_64__) && defined(__GNUC__)",
  headers = { "immintrin.h" },
  -- the builtin asks the OS for the registers' state, too
  test = [[
__builtin_cpu_init();
return __builtin_cpu_supports("avx512f") != 0;]],
  preamble = "typedef __m512 vec;\n",
  words = {
    zero = "return _mm512_setzero_ps();",
    splat = "return _mm512_set1_ps(a);",
    load = "return _mm512_loadu_ps(p);",
    held = [[
__asm__("" : "+v"(a));
return a;]],
    store = "_mm512_storeu_ps(p, a);",
    load_part = function(n)
      if n == 4 then return "return _mm512_zextps128_ps512(_mm_loadu_ps(p));" end
      return ("return _mm512_maskz_loadu_ps(0x%04x, p);"):format((1 << n) - 1)
    end,
    -- one and four take plain stores, which a load soon after can take over
    store_part = function(n)
      if n == 1 then return "_mm_store_ss(p, _mm512_castps512_ps128(a));" end
      if n == 4 then return "_mm_storeu_ps(p, _mm512_castps512_ps128(a));" end
      return ("_mm512_mask_storeu_ps(p, 0x%04x, a);"):format((1 << n) - 1)
    end,
    add = "return _mm512_add_ps(a, b);",
    sub = "return _mm512_sub_ps(a, b);",
    mul = "return _mm512_mul_ps(a, b);",
    div = "return _mm512_div_ps(a, b);",
    fma = "return _mm512_fmadd_ps(a, b, c);",
    max = "return _mm512_max_ps(a, b);",
    absolute = bits "_mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(0x7fffffff))",
    -- both are the nearest even; gcc's macro of the first is not free of warnings at -O0
    round = [[
#ifdef __OPTIMIZE__
return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
return _mm512_cvtepi32_ps(_mm512_cvtps_epi32(a));
#endif]],
    scale2 = "return _mm512_scalef_ps(a, n);",
    zero_below = [[
return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, _mm512_set1_ps(low), _CMP_NLT_UQ), a);]],
    less = where "_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)",
    same_bits = [[
const __mmask16 same = _mm512_cmpeq_epi32_mask(_mm512_castps_si512(a), _mm512_set1_epi32(bits));
return _mm512_castsi512_ps(_mm512_maskz_set1_epi32(same, -1));]],
    overflow = [[
const __m512i top = _mm512_set1_epi32(0x7f800000);
const __m512i exponent = _mm512_and_si512(_mm512_castps_si512(a), top);
return _mm512_castsi512_ps(_mm512_maskz_set1_epi32(_mm512_cmpeq_epi32_mask(exponent, top), -1));]],
    both = bits "_mm512_and_si512(_mm512_castps_si512(a), _mm512_castps_si512(b))",
    either = bits "_mm512_or_si512(_mm512_castps_si512(a), _mm512_castps_si512(b))",
    without = bits "_mm512_andnot_si512(_mm512_castps_si512(b), _mm512_castps_si512(a))",
    -- 0xca: the second operand where the first is set, else the third
    pick = [[
return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(keep),
_mm512_castps_si512(a), _mm512_castps_si512(b), 0xca));]],
    load_bits = bits "_mm512_loadu_si512(p)",
    store_bits = "_mm512_storeu_si512(p, _mm512_castps_si512(a));",
    load_flags = [[
const __m512i flags = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
return _mm512_castsi512_ps(_mm512_maskz_set1_epi32(_mm512_test_epi32_mask(flags, flags), -1));]],
    transpose = avx2.words.transpose,   -- F includes AVX
    any = "return _mm512_test_epi32_mask(_mm512_castps_si512(a), _mm512_castps_si512(a)) != 0;",
    sum = fold "add",
    top = fold "max",
    sums = fold_4 "add",
    tops = fold_4 "max",
    exp = [[
/* e^x = 2^n * e^r, n = round(x / ln 2), |r| <= ln 2 / 2; ln 2 in two parts. The polynomial is */
/* the minimax one of degree 5 with 1 at 0. */
const __mmask16 normal = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-87.3365402f), _CMP_NLT_UQ);
const __m512 n = vec_round(_mm512_mul_ps(x, _mm512_set1_ps(1.44269502f)));
__m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(-0.693147182f), x);
r = _mm512_fmadd_ps(n, _mm512_set1_ps(1.90465421e-9f), r);
]] .. polynomial {
      "8.26592557e-3f", "4.18990590e-2f", "0.166681394f", "0.499991387f", "0.999999464f", "1.0f",
    } .. [[
return _mm512_maskz_scalef_ps(normal, e, n);]],
    exp2 = [[
/* 2^x = 2^n * 2^r, n = round(x), |r| <= 1/2; the minimax polynomial of degree 5 with 1 at 0. */
const __mmask16 normal = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-126.0f), _CMP_NLT_UQ);
const __m512 n = vec_round(x);
const __m512 r = _mm512_sub_ps(x, n);
]] .. polynomial {
      "1.32257072e-3f", "9.67173278e-3f", "5.55089153e-2f", "0.240222365f", "0.693146825f", "1.0f",
    } .. [[
return _mm512_maskz_scalef_ps(normal, e, n);]],
  },
}
