--- Cases to programs: writes their C below a folder of our own, compiles, links and runs it.
-- Many cases share a program and programs are built side by side; what a compiler, a linker or a
-- case says is kept for that case alone.

local lfs = require "lfs"

local programs = {}

-- What emitted code promises to be clean of.
local warnings <const> = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion "
  .. "-Wdouble-promotion -Wshadow -Wcast-align -Wcast-qual -Wstrict-prototypes "
  .. "-Wmissing-prototypes -Wundef -Wvla -Werror -Wno-unused-command-line-argument"

-- Flags that decide what can be linked together; all others are for the layer's code alone.
local binary_flags <const> = {
  "^%-m32$", "^%-m64$", "^%-mx32$", "^%-mabi=", "^%-mfloat%-abi=", "^%-mfpu=", "^%-mthumb$",
  "^%-target=", "^%-%-target=", "^%-%-sysroot=", "^%-static$", "^%-fPIC$", "^%-fPIE$",
  "^%-no%-pie$", "^%-pie$", "^%-fpie$", "^%-fpic$",
}

-- The runner, below templates/.
local runner <const> = {
  "verify_harness.h", "verify_parts.h", "verify_memory.c", "verify_compare.c", "verify_run.c",
  "verify_harness.c",
}

-- One program: $1 is its folder, the rest are its cases. Where the cases can not be linked
-- together, each is linked alone.
local script <const> = [=[
LC_ALL=C ASAN_OPTIONS=detect_leaks=0:$ASAN_OPTIONS
export LC_ALL ASAN_OPTIONS
folder=$1
shift
cd "$folder" || exit 1
objects=
for case in "$@"; do
  if (cd "$case" && %CC% -std=c11 %WARNINGS% %CFLAGS% -c *.c) >"$case.compile" 2>&1 &&
    %CC% %PLAIN% -I.. -I. -c "$case.glue.c" -o "$case.glue.o" >"$case.compile" 2>&1
  then
    rm "$case.compile"
    objects="$objects $case/*.o $case.glue.o"
  fi
done
if [ -z "$objects" ]; then
  :
elif %CC% %CFLAGS% -o program ../verify_*.o $objects -lm >link 2>&1; then
  %RUN% ./program >output 2>errors
else
  for case in "$@"; do
    [ ! -f "$case.compile" ] || continue
    %CC% %CFLAGS% -o "$case.program" ../verify_*.o "$case"/*.o "$case.glue.o" -lm \
      >"$case.link" 2>&1 || continue
    rm "$case.link"
    %RUN% "./$case.program" >>output 2>>errors
  done
fi
[ -n "%KEEP%" ] || rm -f program *.program *.o */*.o
echo "$folder"
]=]

--- A word as the shell takes it.
local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function write(path, text)
  local handle, complaint = io.open(path, "wb")
  if not handle then return nil, complaint end
  local written
  written, complaint = handle:write(text)
  local closed, close_complaint = handle:close()
  if written and closed then return true end
  return nil, ("%s: %s"):format(path, complaint or close_complaint)
end

local function read(path)
  local handle <close> = io.open(path, "rb")
  return handle and handle:read("a") or nil
end

programs.write, programs.read = write, read

local function output_of(command)
  local handle <close> = assert(io.popen(command, "r"))
  return (handle:read("a"):gsub("%s+$", ""))
end

--- Processors that this machine lets us use.
function programs.processors()
  return math.tointeger(tonumber(output_of("nproc 2>/dev/null"))) or 1
end

--- Makes the folder that everything is written below.
-- @string[opt] keep a folder to use and leave, new or empty; without it one of our own
-- @treturn ?string its absolute path; or nil
-- @treturn string what is in the way
-- @treturn integer the exit code for it
function programs.folder(keep)
  if not keep then
    local made = output_of('mktemp -d "${TMPDIR:-/tmp}/qkvc-verify-XXXXXX" 2>&1')
    if lfs.attributes(made, "mode") == "directory" then return made end
    return nil, "no temporary folder: " .. made, 3
  end
  if not lfs.attributes(keep) then
    local complaint = output_of("mkdir -p -- " .. quoted(keep) .. " 2>&1")
    if complaint ~= "" then return nil, ("--keep %s: %s"):format(keep, complaint), 3 end
  elseif output_of("ls -A -- " .. quoted(keep) .. " 2>&1") ~= "" then
    return nil, ("--keep %s: must be a new or an empty folder"):format(keep), 2
  end
  return keep:sub(1, 1) == "/" and keep or lfs.currentdir() .. "/" .. keep
end

--- Removes such a folder.
function programs.remove(folder) os.execute("rm -rf -- " .. quoted(folder)) end

local function is_command(line)
  return os.execute("command -v -- " .. quoted(line:match("%S+") or "") .. " >/dev/null 2>&1")
end

local function plain_flags(cflags)
  local list = { "-std=c11", "-O1" }
  for flag in cflags:gmatch("%S+") do
    for _, pattern in ipairs(binary_flags) do
      if flag:find(pattern) then list[#list + 1] = flag end
    end
  end
  return table.concat(list, " ")
end

--- Compiles the runner and writes the script.
-- @string folder
-- @tparam table options cc, cflags, run, keep
-- @treturn ?boolean true; or nil
-- @treturn string what the environment lacks
function programs.prepare(folder, options)
  if not is_command(options.cc) then
    return nil, ("no C compiler: %s: not a command (--cc or $CC names another)")
      :format(options.cc)
  end
  if options.run ~= "" and not is_command(options.run) then
    return nil, ("--run %s: not a command"):format(options.run)
  end
  local templates = package.searchpath("verify.programs", package.path)
    :match("^(.*)verify/programs%.lua$") .. "../templates/"
  local plain = plain_flags(options.cflags)
  for _, name in ipairs(runner) do
    local written, complaint = write(folder .. "/" .. name, assert(read(templates .. name)))
    if not written then return nil, complaint end
  end
  local said = output_of(("cd %s && LC_ALL=C %s %s -c verify_*.c 2>&1 || echo failed")
    :format(quoted(folder), options.cc, plain))
  if said:find("failed$") then
    return nil, ("%s %s does not compile: %s"):format(options.cc, plain, said:match("[^\n]*"))
  end
  local words = {
    CC = options.cc, CFLAGS = options.cflags, PLAIN = plain, WARNINGS = warnings, RUN = options.run,
    KEEP = options.keep and "keep" or "",
  }
  return write(folder .. "/program.sh", (script:gsub("%%(%u+)%%", words)))
end

--- Writes one case of a program.
-- @string folder
-- @string program name of the program
-- @tparam table job name, files (as from emit.files; the layer's Check test stays away), glue
-- @treturn ?boolean true; or nil
-- @treturn string what is wrong with the disk
function programs.add(folder, program, job)
  local place = folder .. "/" .. program
  lfs.mkdir(place)
  lfs.mkdir(place .. "/" .. job.name)
  for _, file in ipairs(job.files) do
    if file.path:find("%.[ch]$") and not file.path:find("_test%.c$") then
      local written, complaint = write(place .. "/" .. file.path, file.text)
      if not written then return nil, complaint end
    end
  end
  return write(("%s/%s.glue.c"):format(place, job.name), job.glue)
end

--- Builds and runs programs side by side. Should we be killed, they end, and the folder goes.
-- @string folder
-- @tparam {{name=,jobs=},...} list
-- @tparam table options jobs (how many at once), keep
-- @treturn function iterator over the names of the programs as they finish
function programs.run(folder, list, options)
  local lines = {}
  for _, program in ipairs(list) do
    local words = { program.name }
    for _, job in ipairs(program.jobs) do words[#words + 1] = job.name end
    lines[#lines + 1] = table.concat(words, " ") .. "\n"
  end
  if #lines == 0 then return function() return nil end end -- xargs would run once all the same
  assert(write(folder .. "/programs", table.concat(lines)))
  local command = ("cd %s && xargs -P %d -L 1 sh program.sh <programs")
    :format(quoted(folder), options.jobs)
  if not options.keep then
    command = command .. "; kill -0 $PPID 2>/dev/null || rm -rf -- " .. quoted(folder)
  end
  local handle = assert(io.popen(command, "r"))
  return function()
    local name = handle:read("l")
    if not name then handle:close() end
    return name
  end
end

return programs
