--- Specs of layers: checks one whole and writes its defaults out.
-- In: the raw table of a Lua file or a JSON object. Out: the completed spec, or all complaints at
-- once, each "field: value: rule". Knows no tensors, no C and no machine.

local types = require "spec.types"
require "spec.lists"
local fields = require "spec.fields"
local defaults = require "spec.defaults"
local rules = require "spec.rules"
local report = require "spec.report"
local canonical = require "spec.canonical"
local names = require "spec.names"
local say = require "spec.say"

local spec = {}

--- The fields in the order of the manual: name, type, required, default (a value) or otherwise (in
-- words), rule, text; fields are those of a table, items those of a list.
spec.fields = types.with_rules(fields)

--- Checks a spec and writes every default out.
-- @param raw what a spec file returned
-- @treturn ?table the completed spec, or nil
-- @treturn {string,...} all complaints, "field: value: rule"
function spec.complete(raw)
  local notes = report.new()
  if type(raw) ~= "table" then
    report.complain(notes, "spec", raw, "must be a table of fields")
    return nil, notes.complaints
  end
  local given = types.read_fields(raw, spec.fields, "", notes)
  local completed = defaults.complete(given, notes.bad)
  rules.check(completed, given, raw, notes)
  if #notes.complaints > 0 then return nil, notes.complaints end
  return completed
end

--- Everything that decides the numbers of a layer and its packed form, in one line.
-- @tparam table completed a completed spec
-- @treturn string without name, targets and unroll
function spec.canonical(completed) return canonical.line(completed) end

--- The number that headers and blobs are told apart by.
-- @tparam table completed a completed spec
-- @treturn integer 32-bit FNV-1a of the canonical line
function spec.hash(completed) return canonical.fnv1a(canonical.line(completed)) end

--- Complaints about layers that cannot stand in one product: equal names, or a name that is a
-- symbol, macro or file of another layer, in whatever case of letters.
-- @tparam {table,...} completed_specs
-- @treturn {string,...} empty where none clash
function spec.clashes(completed_specs) return names.clashes(completed_specs) end

--- A good name that is near to any text.
-- @string text a case's, a file's or a model's name
-- @treturn string a name that spec.complete accepts
function spec.name_from(text) return names.from(text) end

--- What stands behind a layer's name in its symbols, macros and files.
-- @treturn {string,...} each with its underscore
function spec.suffixes() return names.suffixes() end

--- How a default is written in a manual.
-- @tparam table field one of spec.fields
-- @treturn string
function spec.default_text(field)
  if field.required then return "required" end
  if field.default ~= nil then return say.value(field.default) end
  return field.otherwise
end

return spec
