# Speed over tokens, a picture a shape, from the tables that publish.lua writes.
#   gnuplot -e "folder='...'; image='docs/benchmark.svg'; machine='...'" plot.gp
# A table has a line of names (T first), then a line for each number of tokens, - where not measured.
set terminal svg size 1000,760 dynamic font "sans-serif,13" background rgb "white"
set output image
set datafile separator tab
set datafile missing "-"
set multiplot layout 2,2 title "One attention layer, f32, one thread, ".machine
set logscale x 2
set xtics (1, 8, 32, 128, 512)
set xrange [0.8:640]
set yrange [0:*]
set grid ytics lc rgb "#dddddd"
set key top left font ",10" samplen 2 spacing 0.9
set ylabel "GFLOP/s (median)"
set xlabel "tokens"

# Generated code in full lines, peers dashed, ceilings dotted.
dash_of(name) = name[1:5] eq "qkvc " ? 1 : (name[1:3] eq "FMA" ? 3 : 2)
width_of(name) = name[1:5] eq "qkvc " ? 2.5 : 1.5

do for [shape in "tiny bert-tiny minilm bert-base"] {
  table = folder."/".shape.".tsv"
  if (system("test -f '".table."' && echo yes") eq "yes") {
    set title shape
    columns = int(system("head -1 '".table."' | tr '\\t' '\\n' | wc -l"))
    name_of(i) = system("head -1 '".table."' | cut -f ".i)
    plot for [i=2:columns] table every ::1 using 1:(column(i)) with linespoints \
      title name_of(i) dashtype dash_of(name_of(i)) linewidth width_of(name_of(i)) \
      linecolor i pointtype 7 pointsize 0.5
  }
}
unset multiplot
