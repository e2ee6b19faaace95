--- The command line: what each command takes, and its help.
--
-- Goes in: the list of arguments. Comes out: one table, or a message. Does not know: what the
-- commands do.

local argparse = require "argparse"

local arguments = {}

local spec_help = "a .lua or .json file, or the name of a shipped spec"

local function whole_number(text)
  local number = text:match("^%d+$") and math.tointeger(tonumber(text))
  if not number then return nil, ("%s: must be a whole number of 0 or more"):format(text) end
  return number
end

local function add_overrides(command)
  command:option("--target", "Use this target; may be given more than once (default: the targets "
    .. "of the spec)."):argname("T"):count("*"):target("targets")
  command:option("--unroll", "Unroll this way (default: as the spec says)."):argname("U")
    :choices({ "full", "tile", "auto" })
end

local function add_folder(command)
  command:option("-o --output", "The folder that holds one folder for each layer.")
    :argname("DIR"):default("generated"):target("dir")
end

-- Ordered; each with its one line for the overview, its text, its example and its arguments.
local commands = {
  {
    name = "generate", summary = "Write the C of layers.",
    description = "Turns each SPEC into a folder of C sources: header, stages, targets, tests. "
      .. "Writes only files whose text changed, and nothing at all when a SPEC is wrong. "
      .. "Files that qkvc did not write are never overwritten.",
    example = "qkvc generate specs/minilm_l6.lua -o vendor/attention --target portable",
    define = function(command)
      command:argument("specs", spec_help):argname("SPEC"):args("+")
      add_folder(command)
      add_overrides(command)
    end,
  },
  {
    name = "check", summary = "Tell whether written C is current.",
    description = "Compares what generate would write with what is there and names each file that "
      .. "is stale, missing or orphaned. Writes nothing. Exit 1 when there is one.",
    example = "qkvc check specs/minilm_l6.lua -o vendor/attention",
    define = function(command)
      command:argument("specs", spec_help):argname("SPEC"):args("+")
      add_folder(command)
      add_overrides(command)
    end,
  },
  {
    name = "explain", summary = "Show a layer's sizes and plan.",
    description = "Prints shapes, parameters, multiply-adds, bytes, the plan of each stage and the "
      .. "size of the code. Writes nothing.",
    example = "qkvc explain bert_base --target portable",
    define = function(command)
      command:argument("spec", spec_help):argname("SPEC")
      add_overrides(command)
    end,
  },
  {
    name = "import", summary = "Turn a model's config.json into a spec.",
    description = "Reads the configuration that a model is published with and writes the spec of "
      .. "one of its layers, with the keys it came from as comments. A key that changes attention "
      .. "and is not understood is refused.",
    example = "qkvc import config.json --layer 0 -o specs",
    define = function(command)
      command:argument("config", "the model's configuration, a .json file"):argname("CONFIG")
      command:option("-o --output", "The folder to write the spec to; without it, the spec is "
        .. "printed."):argname("DIR"):target("dir")
      command:option("--layer", "Which layer, from 0, where layers differ."):argname("N")
        :convert(whole_number)
      command:option("--part", "What of the block: block (norms, attention, residual; the "
        .. "default), module (the four projections and the attention), attention (without the "
        .. "output projection), output (output projection, residual, norm)."):argname("P")
        :choices({ "block", "module", "attention", "output" })
      command:option("--stack", "Which stack of a model with two (default: encoder; decoder with "
        .. "--cross or --cache)."):argname("S"):choices({ "encoder", "decoder" })
      command:flag("--cross", "The attention to the encoder instead of the layer's own.")
      command:flag("--cache", "With a cache of past keys and values.")
      command:option("--tokens", "Query positions: N, max=N, or max for as many as the model has "
        .. "(default: max)."):argname("N")
      command:option("--context", "Encoder positions of --cross, in the same forms."):argname("N")
      command:option("--past", "Cached positions of --cache, in the same forms."):argname("N")
      command:option("--ignore", "A key that qkvc does not know and that does not change the "
        .. "attention; may be given more than once."):argname("KEY"):count("*"):target("ignore")
      command:option("--family", "The model's family, where the configuration does not say it.")
        :argname("F")
      command:option("--name", "The layer's name (default: made of family, part and layer).")
        :argname("NAME")
    end,
  },
  {
    name = "pack", summary = "Pack a layer's weights from a checkpoint.",
    description = "Reads one layer's tensors from a checkpoint (.safetensors, its .index.json, "
      .. ".npz, or a folder with a model), checks each shape against the SPEC and writes the "
      .. "packed weights: a C table where FILE ends in .c, else a blob. Names and layouts are "
      .. "those of the family, which a config.json beside the checkpoint states, too.",
    example = "qkvc pack minilm_l6 model.safetensors --family bert --layer 0 "
      .. "-o minilm_l6_weights.c",
    define = function(command)
      command:argument("spec", spec_help):argname("SPEC")
      command:argument("checkpoint", "the file with the model's tensors"):argname("CHECKPOINT")
      command:option("--layer", "Which layer, from 0."):argname("N"):convert(whole_number)
      command:option("--family", "The naming and layout of the checkpoint's tensors.")
        :argname("F")
      command:option("--config", "The model's configuration: states the family, the heads that "
        .. "were pruned and stretched rotary frequencies (default: config.json beside the "
        .. "checkpoint, without --family)."):argname("CONFIG")
      command:option("--prefix", "What the tensors' names begin with, where it is not the "
        .. "family's; {layer} stands for the layer, - for nothing at all."):argname("P")
      command:option("--form", "What to write, where FILE does not say it."):argname("F")
        :choices({ "blob", "c" })
      command:option("--ignore", "A key of the configuration that does not change the attention; "
        .. "may be given more than once."):argname("KEY"):count("*"):target("ignore")
      command:option("-o --output", "The file to write (default: NAME.blob)."):argname("FILE")
        :target("output")
    end,
  },
  {
    name = "verify", summary = "Prove generated C with golden cases.",
    description = "Generates, compiles and runs each CASE (a .json beside its .safetensors, a "
      .. "stem, or a folder of them) and compares the results. One line for each case, with its "
      .. "error; the last line is 'N passed, N failed'. Exit 0 only where all passed.",
    example = 'qkvc verify tests/golden --cc clang --cflags "-O3 -march=native"',
    define = function(command)
      command:argument("cases", "a .json file, a stem or a folder"):argname("CASE"):args("+")
      add_overrides(command)
      command:option("--cc", "The C compiler (default: $CC, or cc)."):argname("CC")
      command:option("--cflags", "Its flags (default: -O2)."):argname("FLAGS")
      command:option("--run", "A command in front of each program, as an emulator.")
        :argname("COMMAND")
      command:option("-j --jobs", "How many programs at once (default: one for each processor).")
        :argname("N"):convert(whole_number)
      command:option("--keep", "Work in this new or empty folder, and leave it.")
        :argname("FOLDER")
      command:option("--rename", "Rename cases and tensors at random first, by this seed.")
        :argname("SEED"):convert(whole_number)
    end,
  },
  {
    name = "bench", summary = "Measure generated C.",
    description = "Compiles each SPEC, measures it on this machine and prints microseconds, "
      .. "GFLOP/s, the share of the machine's peak and of the counted limit, the speed against "
      .. "plain loops, and the error against float64. All ways to run a layer take turns, on one "
      .. "processor. Exit 1 where a result is wrong.",
    example = 'qkvc bench minilm_l6 --tokens 1,8,128 --cc gcc --cc clang --cflags "-O3"',
    define = function(command)
      command:argument("specs", spec_help):argname("SPEC"):args("+")
      command:option("--tokens", "Counts of tokens, separated by commas or spaces."):argname("N")
        :args("+"):count("*")
      command:option("--context", "Rows of context, where they are open (default: at most 512).")
        :argname("N"):convert(whole_number)
      command:option("--past", "Cached positions, where they are open (default: at most 512).")
        :argname("N"):convert(whole_number)
      add_overrides(command)
      command:option("--cc", "The C compiler (default: $CC, or cc); may be given more than once.")
        :argname("CC"):count("*")
      command:option("--cflags", "Its flags (default: -O3); may be given more than once.")
        :argname("FLAGS"):count("*")
      command:option("--rounds", "How often all take their turn (default: 20); 0 only builds and "
        .. "prints the libraries."):argname("N"):convert(whole_number)
      command:option("--compare", "Plain loops, compiled alike: loops, none, or auto (where they "
        .. "take less than half a second; the default)."):argname("WHAT")
        :choices({ "auto", "loops", "none" })
      command:option("--clock", "Of calls above 50 us: wall (the default), or cpu, only the time "
        .. "that the processor gave to us, for machines where other work runs."):argname("C")
        :choices({ "wall", "cpu" })
      command:option("--keep", "Work in this new or empty folder, and leave it.")
        :argname("FOLDER")
      command:flag("--json", "Print one JSON object a line instead of a table.")
    end,
  },
}

local exit_codes = "Exit codes: 0 done, 1 the check or verification failed, 2 the input was wrong, "
  .. "3 the environment was (no compiler, no disk)."

local function parser_of()
  local parser = argparse("qkvc")
    :description("Writes self-contained C for one attention layer from its spec.")
    :epilog("Learn a command: qkvc generate --help\n\n" .. exit_codes)
    :command_target("command"):help_max_width(90):help_description_margin(30)
  parser:flag("--version", "Print the version and exit."):action(function()
    io.stdout:write("qkvc ", require "version", "\n")
    os.exit(0)
  end)
  for _, entry in ipairs(commands) do
    local command = parser:command(entry.name):summary(entry.summary)
      :description(entry.description)
      :epilog("Example:\n  " .. entry.example .. "\n\n" .. exit_codes)
    entry.define(command)
  end
  return parser
end

local takes_any_text = { ["--cflags"] = true, ["--run"] = true, ["--cc"] = true }

-- Joins options with their values where these may begin with a dash, as in --cflags -O2.
local function joined(list)
  local result, index = {}, 1
  while index <= #list do
    local word = list[index]
    if takes_any_text[word] and list[index + 1] then
      word = word .. "=" .. list[index + 1]
      index = index + 1
    end
    result[#result + 1] = word
    index = index + 1
  end
  return result
end

-- The counts of --tokens as one list of integers, or nil and a message.
local function counts_of(groups)
  local counts = {}
  for _, group in ipairs(groups) do
    for _, word in ipairs(group) do
      for text in word:gmatch("[^,]+") do
        local count, complaint = whole_number(text)
        if not count then return nil, "--tokens: " .. complaint end
        counts[#counts + 1] = count
      end
    end
  end
  return counts
end

--- Parses a command line. Prints and exits for --help and --version alone.
-- @tparam {string,...} list the words after the program's name
-- @treturn ?table command and the fields of its arguments, or nil
-- @treturn string a message
function arguments.parse(list)
  local parser = parser_of()
  if #list == 0 then return nil, "which command? See qkvc --help" end
  local parsed, result = parser:pparse(joined(list))
  if not parsed then
    return nil, ("%s\nsee qkvc --help, or qkvc COMMAND --help"):format(result)
  end
  if result.dir == "" or result.output == "" then return nil, "-o: must not be empty" end
  -- printed paths have one slash; the root folder keeps its own
  if result.dir then result.dir = result.dir:match("^(.+[^/])/+$") or result.dir end
  if result.command == "bench" then
    local counts, complaint = counts_of(result.tokens)
    if not counts then return nil, complaint end
    result.tokens = counts
  end
  return result
end

return arguments
