--- The slopes of ALiBi: one factor a head, a geometric series that the two families continue
-- differently where the number of heads is no power of two.

local slopes = {}

local function power_of_two_up_to(count)
  local power = 1
  while power * 2 <= count do power = power * 2 end
  return power
end

--- Bloom's: a series for the largest power of two, then every second term of the next finer one.
-- @tparam integer count heads
-- @treturn {number,...} a slope a head
function slopes.bloom(count)
  local power = power_of_two_up_to(count)
  local list = {}
  for head = 1, power do list[head] = 2.0 ^ (-8.0 * head / power) end
  for extra = 1, count - power do
    list[power + extra] = 2.0 ^ (-4.0 * (2 * extra - 1) / power)
  end
  return list
end

--- MPT's: a series for the next power of two above, its even terms first, then its odd ones.
-- @tparam integer count heads
-- @tparam number most the exponent of the last term (alibi_bias_max)
-- @treturn {number,...} a slope a head
function slopes.mpt(count, most)
  local power = power_of_two_up_to(count)
  if power < count then power = 2 * power end
  local function slope(term) return 2.0 ^ -(most * term / power) end
  local list = {}
  if power == count then
    for term = 1, power do list[term] = slope(term) end
    return list
  end
  for term = 2, power, 2 do list[#list + 1] = slope(term) end
  for term = 1, power, 2 do list[#list + 1] = slope(term) end
  return table.move(list, 1, count, 1, {})
end

return slopes
