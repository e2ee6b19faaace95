# Full unrolling beside tiles and plain loops over tokens, a picture a width, from unrolling.tsv.
#   gnuplot -e "table='...'; image='docs/unrolling.svg'" unrolling.gp
# Columns: d, T, loops, then full and tile of each target; - where not measured.
set terminal svg size 1000,420 dynamic font "sans-serif,13" background rgb "white"
set output image
set datafile missing "-"
set multiplot layout 1,3 title "Small layers of two heads: microseconds over tokens"
set logscale xy 2
set xtics (1, 2, 4, 8)
set xrange [0.8:10]
set datafile separator tab
set grid ytics lc rgb "#dddddd"
set key top left font ",10" samplen 2 spacing 0.9
set xlabel "tokens"
set ylabel "microseconds (minimum)"
names = "loops avx2,full avx2,tile avx512,full avx512,tile"
color_of(i) = i == 3 ? 8 : i / 2
dash_of(i) = i == 3 ? 3 : (i % 2 == 0 ? 1 : 2)

do for [d in "8 16 32"] {
  set title "d = ".d
  plot for [i=3:7] table every ::1 using 2:(column(1) == d + 0 ? column(i) : NaN) \
    with linespoints title word(names, i - 2) dashtype dash_of(i) linecolor color_of(i) \
    pointtype 7 pointsize 0.5
}
unset multiplot
