# Speed over tokens, a picture a shape, from the tables that publish.lua writes.
#   gnuplot -e "folder='...'; image='docs/benchmark.svg'; machine='...'" plot.gp
# A table has a line of names (T first), then a line for each number of tokens; - is not measured.
set terminal svg size 1000,760 dynamic font "sans-serif,13" background rgb "white"
set output image
set datafile separator tab
set datafile missing "-"
set multiplot layout 2,2 margins 0.08,0.79,0.08,0.9 spacing 0.1,0.15 \
  title "One attention layer, f32, one thread, ".machine
set logscale x 2
set xtics (1, 8, 32, 128, 512)
set xrange [0.8:640]
set yrange [0:*]
set grid ytics lc rgb "#dddddd"
set key at screen 0.995, screen 0.9 right top Left reverse samplen 3
set ylabel "GFLOP/s (median)"
set xlabel "tokens"

# Generated code in full lines of blue, peers dashed, the ceiling dotted.
ours(name) = name[1:5] eq "qkvc "
dash_of(name) = ours(name) ? 1 : (name[1:3] eq "FMA" ? 3 : 2)
width_of(name) = ours(name) ? 2.5 : 1.5
blues = "0x9ecae1 0x4292c6 0x08306b 0x6a51a3"
others = "0xd94801 0xfd8d3c 0x238b45 0x8c6d31 0xce1256 0x7f7f7f"
array seen[2]

do for [shape in "tiny bert-tiny minilm bert-base"] {
  table = folder."/".shape.".tsv"
  if (system("test -f '".table."' && echo yes") eq "yes") {
    set title shape
    columns = int(system("head -1 '".table."' | tr '\\t' '\\n' | wc -l"))
    name_of(i) = system("head -1 '".table."' | cut -f ".i)
    seen[1] = 0
    seen[2] = 0
    array color[columns]
    do for [i=2:columns] {
      if (ours(name_of(i))) {
        seen[1] = seen[1] + 1
        color[i] = int(word(blues, seen[1]))
      } else {
        seen[2] = seen[2] + 1
        color[i] = int(word(others, seen[2]))
      }
      if (name_of(i)[1:3] eq "FMA") { color[i] = 0x000000 }
    }
    plot for [i=2:columns] table every ::1 using 1:(column(i)) with linespoints \
      title name_of(i) dashtype dash_of(name_of(i)) linewidth width_of(name_of(i)) \
      linecolor rgb color[i] pointtype 7 pointsize 0.5
    unset key
  }
}
unset multiplot
