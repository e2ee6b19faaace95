--- Complaints about a spec: all of them, and which fields cannot be relied on.
-- Knows no field.

local say = require "spec.say"

local report = {}

--- A new report.
-- @treturn table complaints, in the order they are made, and bad, the set of paths that have one
function report.new() return { complaints = {}, bad = {} } end

--- Notes a complaint, and that the field and all it stands in cannot be relied on.
-- @tparam table notes from report.new
-- @string path the field, for instance position.rope.dim
-- @param value what it holds
-- @string rule what it breaks
function report.complain(notes, path, value, rule)
  table.insert(notes.complaints, ("%s: %s: %s"):format(path, say.value(value), rule))
  local outer = path
  while outer do
    notes.bad[outer] = true
    outer = outer:match("^(.*)[.[]")
  end
end

return report
