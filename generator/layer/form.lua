--- What the interface and the packed form of every layer share.

local form = {}

--- The interface and the packed form; only a new number may change either.
form.FORMAT = 1
form.PANEL = 16        -- output columns, or key positions, that stand side by side
form.HEADER = 64       -- bytes in front of the packed weights
form.ALIGN = 64

--- The least multiple that is not smaller.
-- @tparam integer n
-- @tparam integer to
-- @treturn integer
function form.round_up(n, to) return (n + to - 1) // to * to end

return form
