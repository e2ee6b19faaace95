--- How large a layer is, and whether C and Lua can count it.
-- In: a completed spec. Knows no C.

local sizes = {}

-- Sizes are enum constants of C; products stay below what a double tells apart, so that bytes and
-- sums of them stay below 2^62.
local largest_width <const> = 0x7fffffff
local largest_product <const> = 2.0 ^ 53

-- Key/value positions of one call.
local function fresh(s) return s.context and s.context.max or s.tokens.max end

--- The largest distance between the places of a query and a key.
-- @tparam table s a completed spec
-- @treturn integer |place - j| at most
function sizes.reach(s)
  local tokens, past = s.tokens.max, s.past.max
  if s.align == "start" then return math.max(past + tokens, fresh(s)) - 1 end
  return math.max(past + fresh(s), tokens) - 1
end

-- The rows of the relative table; 0 where there is none or it is not known.
local function relative_rows(s)
  local relative = s.position.relative
  return relative and relative.left and relative.right and relative.left + relative.right + 1 or 0
end

local function factors_of(s)
  return {
    heads = s.heads, kv_heads = s.kv_heads, p_q = s.p_q, p_v = s.p_v, p_o = s.p_o,
    d_q = s.d_q, d_k = s.d_k, d_v = s.d_v, tokens = s.tokens.max,
    context = fresh(s), keys = s.past.max + fresh(s), rows = relative_rows(s),
  }
end

-- Products and their limits in the order they are checked; when says which layers have one.
local function of_attention(s) return s.attention end
local function projecting(which) return function(s) return s.project[which] end end

local products = {
  { "heads", "p_q", what = "the width of the queries", most = largest_width, when = of_attention },
  { "heads", "p_v", what = "the width of the head outputs", most = largest_width },
  { "keys", what = "past and new keys together", most = largest_width, when = of_attention },
  { "rows", what = "the rows of the relative table", most = largest_width, when = of_attention },
  { "tokens", "heads", "p_q", "d_q", what = "the multiply-adds of q", when = projecting "q" },
  { "context", "kv_heads", "p_q", "d_k", what = "the multiply-adds of k", when = projecting "k" },
  { "context", "kv_heads", "p_v", "d_v", what = "the multiply-adds of v", when = projecting "v" },
  { "tokens", "keys", "heads", "p_q", what = "the multiply-adds of the scores",
    when = of_attention },
  { "tokens", "keys", "heads", "p_v", what = "the multiply-adds of the values",
    when = of_attention },
  { "tokens", "heads", "p_v", "p_o", what = "the multiply-adds of o", when = projecting "o" },
  { "rows", "p_q", what = "the relative table", when = of_attention },
}

-- The field that a factor comes from.
local function field_of(s, factor)
  if factor == "rows" then return "position.relative" end
  if factor == "keys" then factor = s.past.max > fresh(s) and "past" or "context" end
  if factor == "context" and not s.context then return "tokens" end
  return factor
end

-- The product and its largest factor, or nothing where a factor is not known.
local function multiplied(product, factors)
  local total, largest = 1.0, product[1]
  for _, factor in ipairs(product) do
    local value = factors[factor]
    if not value then return nil end
    total = total * value
    if value > factors[largest] then largest = factor end
  end
  return total, largest
end

--- The first product of sizes that is too large to be counted.
-- @tparam table s a completed spec
-- @treturn ?string the field of its largest factor, or nil where all is well
-- @treturn string the rule
function sizes.broken_rule(s)
  local factors = factors_of(s)
  for _, product in ipairs(products) do
    local total, largest = multiplied(product, factors)
    local there = not product.when or product.when(s)
    if there and total and total > (product.most or largest_product) then
      return field_of(s, largest), ("%s = %s must be at most %s"):format(
        table.concat(product, " * "), product.what, product.most and "2147483647" or "2^53")
    end
  end
end

return sizes
