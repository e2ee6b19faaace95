--- Layers to shared libraries that the harness loads, and the harness itself.
-- In: layers, their files, compilers with flags. Out: files in a folder of our own, or what the
-- environment lacks. Knows no results.

local emit = require "emit"
local glue = require "bench.glue"
local lfs = require "lfs"
local programs = require "verify.programs"

local build = {}

local HARNESS <const> = {
  "bench_harness.c", "bench_machine.c", "bench_machine.h", "bench_sample.c", "bench_layer.h",
  "bench_loops.h",
}

-- One library: $1 the layer, $2 the library's number, $3 and on the compiler with its flags. What
-- the compiler says stays in a file, which is removed where there is nothing to say.
local script <const> = [=[
LC_ALL=C
export LC_ALL
layer=$1 number=$2
shift 2
place=objects_${layer}_$number
mkdir -p "$place"
objects=
for source in "$layer/${layer}"*.c "$layer.glue.c" bench_sample.c; do
  object=$place/$(basename "$source" .c).o
  case $source in *_test.c) continue ;; esac
  "$@" -std=c11 -fPIC -fvisibility=hidden -I. -c "$source" -o "$object" || exit 1
  objects="$objects $object"
done >"$layer.$number.said" 2>&1
"$@" -shared -o "$layer.$number.so" $objects -lm >>"$layer.$number.said" 2>&1 &&
  rm -rf "$layer.$number.said" "$place"
]=]

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function run(folder, command)
  local handle <close> = assert(io.popen(("cd %s && LC_ALL=C %s 2>&1"):format(quoted(folder),
    command), "r"))
  local said = handle:read("a")
  return handle:close(), said
end

local function is_command(line)
  return os.execute("command -v -- " .. quoted(line:match("%S+") or "") .. " >/dev/null 2>&1")
end

local function templates_folder()
  return package.searchpath("bench.build", package.path):match("^(.*)bench/build%.lua$")
    .. "../templates/"
end

--- Compiles the harness.
-- @string folder where all of it stands
-- @tparam {{cc=,cflags=},...} builds the compilers to be used; the first makes the harness
-- @treturn ?boolean true, or nil
-- @treturn string what the environment lacks
function build.harness(folder, builds)
  for _, one in ipairs(builds) do
    if not is_command(one.cc) then
      return nil, ("no C compiler: %s: not a command (--cc or $CC names another)"):format(one.cc)
    end
  end
  for _, name in ipairs(HARNESS) do
    local text = assert(programs.read(templates_folder() .. name))
    local written, complaint = programs.write(folder .. "/" .. name, text)
    if not written then return nil, complaint end
  end
  local written, complaint = programs.write(folder .. "/library.sh", script)
  if not written then return nil, complaint end
  local made, said = run(folder, builds[1].cc .. " -std=gnu11 -O3 -ffp-contract=fast "
    .. "-o bench_harness bench_harness.c bench_machine.c bench_sample.c -ldl -lm")
  if made then return true end
  return nil, ("%s does not compile the harness: %s"):format(builds[1].cc, said:match("[^\n]*"))
end

local function write_layer(folder, layer)
  local list, complaints = emit.files(layer.spec)
  if not list then return nil, table.concat(complaints, "\n"), 2 end
  lfs.mkdir(folder .. "/" .. layer.name)
  list[#list + 1] = { path = layer.name .. ".glue.c", text = glue.text(layer) }
  for _, file in ipairs(list) do
    local written, complaint = programs.write(folder .. "/" .. file.path, file.text)
    if not written then return nil, complaint, 3 end
  end
  return true
end

local function said_of(path)
  local said = programs.read(path)
  if not said then return nil end
  return said:match("[^\n]*error[^\n]*") or said:match("[^\n]*undefined[^\n]*")
    or said:match("[^\n]+") or "no word of why"
end

--- Compiles layers, each with every compiler, side by side.
-- @string folder
-- @tparam {table,...} layers from layer.of
-- @tparam {{cc=,cflags=},...} builds
-- @treturn ?boolean true, or nil; library i of a layer is folder/NAME.i.so
-- @treturn string what went wrong
-- @treturn integer the exit code for it
function build.layers(folder, layers, builds)
  local lines = {}
  for _, layer in ipairs(layers) do
    local written, complaint, code = write_layer(folder, layer)
    if not written then return nil, complaint, code end
    for number, one in ipairs(builds) do
      lines[#lines + 1] = ("%s %d %s %s\n"):format(layer.name, number, one.cc, one.cflags)
    end
  end
  local written, complaint = programs.write(folder .. "/libraries", table.concat(lines))
  if not written then return nil, complaint, 3 end
  run(folder, ("xargs -P %d -L 1 sh library.sh <libraries"):format(programs.processors()))
  for _, layer in ipairs(layers) do
    for number, one in ipairs(builds) do
      local stem = ("%s/%s.%d"):format(folder, layer.name, number)
      if not lfs.attributes(stem .. ".so") then
        return nil, ("%s %s does not compile %s: %s"):format(one.cc, one.cflags, layer.name,
          said_of(stem .. ".said") or "no word of why"), 3
      end
    end
  end
  return true
end

--- Runs the harness.
-- @string folder
-- @tparam {string,...} words its arguments
-- @treturn function iterator over its lines, then nil
-- @treturn function after the last line: true, or nil and what it complained of
function build.run(folder, words)
  local list = {}
  for i, word in ipairs(words) do list[i] = quoted(word) end
  local handle = assert(io.popen(("cd %s && ./bench_harness %s 2>complaint"):format(quoted(folder),
    table.concat(list, " ")), "r"))
  local function finish()
    local done, how, code = handle:close()
    if done then return true end
    local said = programs.read(folder .. "/complaint") or ""
    return nil, said:match("[^\n]+") or ("the harness ended with %s %d"):format(how, code)
  end
  return handle:lines("l"), finish
end

return build
