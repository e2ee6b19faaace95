# Full unrolling beside tiles and plain loops over tokens, a picture a width, from unrolling.tsv.
#   gnuplot -e "table='...'; image='docs/unrolling.svg'" unrolling.gp
# Columns: d, T, loops, then full, tile and auto of portable, avx2 and avx512; - where not measured.
set terminal svg size 1200,420 dynamic font "sans-serif,13" background rgb "white"
set output image
set datafile missing "-"
set multiplot layout 1,4 title "Small layers of two heads: microseconds over tokens"
set logscale xy 2
set xtics (1, 2, 4, 8, 16)
set xrange [0.8:20]
set datafile separator tab
set grid ytics lc rgb "#dddddd"
set key top left font ",10" samplen 2 spacing 0.9
set xlabel "tokens"
set ylabel "microseconds (minimum)"
names = "loops portable,full portable,tile - avx2,full avx2,tile - avx512,full avx512,tile"
shown = "3 4 5 7 8 10 11"
color_of(i) = i == 3 ? 8 : (i - 1) / 3
dash_of(i) = i == 3 ? 3 : (i % 3 == 1 ? 1 : 2)

do for [d in "8 16 32 64"] {
  set title "d = ".d
  plot for [c in shown] i = c + 0, table every ::1 \
    using 2:(column(1) == d + 0 ? column(i) : NaN) \
    with linespoints title word(names, i - 2) dashtype dash_of(i) linecolor color_of(i) \
    pointtype 7 pointsize 0.5
}
unset multiplot
