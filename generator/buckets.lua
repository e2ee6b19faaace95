--- T5's buckets of distances, their edges as exact integers.
-- Bucket m holds distance m up to E - 1, E half the buckets; beyond, bucket E + r begins at the
-- first m with m^S * E^r >= max_distance^r * E^S, S = buckets - E (Raffel et al. 2020, with no
-- logarithm to round). Knows nothing of layers or C.

local buckets = {}

local BASE <const> = 10000000

local function multiply(digits, n)
  local carry = 0
  for i, digit in ipairs(digits) do
    local value = digit * n + carry
    digits[i], carry = value % BASE, value // BASE
  end
  while carry > 0 do
    digits[#digits + 1], carry = carry % BASE, carry // BASE
  end
end

--- a^b * c^d as digits to BASE, least first.
local function power_product(a, b, c, d)
  local digits = { 1 }
  for _ = 1, b do multiply(digits, a) end
  for _ = 1, d do multiply(digits, c) end
  return digits
end

local function at_least(a, b)
  if #a ~= #b then return #a > #b end
  for i = #a, 1, -1 do
    if a[i] ~= b[i] then return a[i] > b[i] end
  end
  return true
end

--- Whether m^steps * exact^r >= max_distance^r * exact^steps: by logarithms where they are far
-- apart, else by the integers themselves.
local function reaches(m, r, exact, steps, max_distance)
  local left, right = steps * math.log(m / exact), r * math.log(max_distance / exact)
  local doubt = 1e-9 * (steps + r) * math.log(max_distance + m + 2)
  if math.abs(left - right) > doubt then return left > right end
  return at_least(power_product(m, steps, exact, r), power_product(max_distance, r, exact, steps))
end

--- Where bucket exact + r begins, by halving what is left.
local function first_of(r, exact, steps, max_distance)
  local low, high = exact, math.max(max_distance, exact)
  while low < high do
    local middle = (low + high) // 2
    if reaches(middle, r, exact, steps, max_distance) then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

--- The first distance of each bucket but 0, in one direction.
-- @tparam integer count buckets of that direction
-- @tparam integer max_distance where the last bucket begins at the latest
-- @treturn table list of count - 1 integers, ascending
function buckets.edges(count, max_distance)
  local exact = count // 2
  local steps = count - exact
  local list = {}
  for m = 1, exact do list[#list + 1] = m end
  for r = 1, steps - 1 do list[#list + 1] = first_of(r, exact, steps, max_distance) end
  return list
end

return buckets
