# Full unrolling beside tiles and plain loops over tokens, a picture a width, from unrolling.tsv.
#   gnuplot -e "table='...'; image='docs/unrolling.svg'" unrolling.gp
# Columns: d, T, loops, then full and tile of each target; - where not measured.
set terminal svg size 1000,760 dynamic font "sans-serif,13" background rgb "white"
set output image
set datafile missing "-"
set multiplot layout 2,2 title "Small layers of two heads: microseconds over tokens"
set logscale xy 2
set xtics (1, 2, 4, 8, 16)
set grid ytics lc rgb "#dddddd"
set key top left font ",10" samplen 2 spacing 0.9
set xlabel "tokens"
set ylabel "microseconds (minimum)"
do for [d in "8 16 32 64"] {
  set title "d = ".d
  plot for [i=3:9] table every ::1 using 2:(column(1) == d + 0 ? column(i) : NaN) \
    with linespoints linecolor (i == 3 ? 8 : (i - 2) / 2 + 1) \
    dashtype (i == 3 ? 3 : (i % 2 == 0 ? 1 : 2)) pointtype 7 pointsize 0.5 \
    title word("loops portable,full portable,tile avx2,full avx2,tile avx512,full avx512,tile", i - 2)
}
unset multiplot
