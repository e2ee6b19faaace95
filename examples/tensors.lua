--- Writes tensors of a .safetensors file as they are stored, each to a file of its name.
-- Usage: lua5.4 examples/tensors.lua FILE.safetensors FOLDER NAME...
package.path = arg[0]:gsub("[^/]*$", "") .. "../generator/?.lua;" .. package.path

local safetensors = require "read.safetensors"

local file = assert(safetensors.open(arg[1]))
for index = 3, #arg do
  local bytes = assert(safetensors.bytes(file, arg[index]))
  local handle <close> = assert(io.open(arg[2] .. "/" .. arg[index], "wb"))
  assert(handle:write(bytes))
  local tensor = file.tensors[arg[index]]
  print(("%s %s [%s]"):format(arg[index], tensor.dtype, table.concat(tensor.shape, "][")))
end
