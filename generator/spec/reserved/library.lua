--- Names of the C library: functions, objects, macros and tags of C11, with its annex K.
-- Names that end in _t and whole families of names are rules in spec/names.lua.

return [[
BUFSIZ CHAR_BIT CHAR_MAX CHAR_MIN CLOCKS_PER_SEC DECIMAL_DIG EDOM EILSEQ EOF ERANGE EXIT_FAILURE
EXIT_SUCCESS FILE FILENAME_MAX FOPEN_MAX HUGE_VAL HUGE_VALF HUGE_VALL I INFINITY LLONG_MAX
LLONG_MIN LONG_MAX LONG_MIN L_tmpnam L_tmpnam_s MATH_ERREXCEPT MATH_ERRNO MB_CUR_MAX MB_LEN_MAX
NAN NULL ONCE_FLAG_INIT PTRDIFF_MAX PTRDIFF_MIN RAND_MAX RSIZE_MAX SCHAR_MAX SCHAR_MIN SEEK_CUR
SEEK_END SEEK_SET SHRT_MAX SHRT_MIN SIGABRT SIGFPE SIGILL SIGINT SIGSEGV SIGTERM SIG_ATOMIC_MAX
SIG_ATOMIC_MIN SIG_DFL SIG_ERR SIG_IGN SIZE_MAX TIME_UTC TMP_MAX TMP_MAX_S TSS_DTOR_ITERATIONS
UCHAR_MAX ULLONG_MAX ULONG_MAX USHRT_MAX WCHAR_MAX WCHAR_MIN WEOF WINT_MAX WINT_MIN abort
abort_handler_s abs acos acosf acosh acoshf acoshl acosl aligned_alloc asctime asctime_s asin
asinf asinh asinhf asinhl asinl assert at_quick_exit atan atan2 atan2f atan2l atanf atanh atanhf
atanhl atanl atexit atof atoi atol atoll bsearch bsearch_s btowc c16rtomb c32rtomb cabs cabsf
cabsl cacos cacosf cacosh cacoshf cacoshl cacosl call_once calloc canonicalize carg cargf cargl
casin casinf casinh casinhf casinhl casinl catan catanf catanh catanhf catanhl catanl cbrt cbrtf
cbrtl ccos ccosf ccosh ccoshf ccoshl ccosl ceil ceilf ceill cexp cexpf cexpl cimag cimagf cimagl
clearerr clock clog clogf clogl complex conj conjf conjl copysign copysignf copysignl cos cosf
cosh coshf coshl cosl cpow cpowf cpowl cproj cprojf cprojl creal crealf creall csin csinf csinh
csinhf csinhl csinl csqrt csqrtf csqrtl ctan ctanf ctanh ctanhf ctanhl ctanl ctime ctime_s
difftime div erf erfc erfcf erfcl erff erfl errno exit exp exp2 exp2f exp2l expf expl expm1
expm1f expm1l fabs fabsf fabsl fclose fdim fdimf fdiml feclearexcept fegetenv fegetexceptflag
fegetround feholdexcept feof feraiseexcept ferror fesetenv fesetexceptflag fesetround
fetestexcept feupdateenv fflush fgetc fgetpos fgets fgetwc fgetws floor floorf floorl fma fmaf
fmal fmax fmaxf fmaximum fmaxl fmin fminf fminimum fminl fmod fmodf fmodl fopen fopen_s
fpclassify fprintf fprintf_s fputc fputs fputwc fputws fread free free_aligned_sized free_sized
freopen freopen_s frexp frexpf frexpl fscanf fscanf_s fseek fsetpos ftell fwide fwprintf
fwprintf_s fwrite fwscanf fwscanf_s getc getchar getenv getenv_s gets gets_s getwc getwchar
gmtime gmtime_s hypot hypotf hypotl ignore_handler_s ilogb ilogbf ilogbl imaxabs imaxdiv isalnum
isalpha isblank iscntrl isdigit isfinite isgraph isgreater isgreaterequal isinf isless
islessequal islessgreater islower isnan isnormal isprint ispunct isspace isunordered isupper
iswalnum iswalpha iswblank iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct
iswspace iswupper iswxdigit isxdigit jmp_buf kill_dependency labs lconv ldexp ldexpf ldexpl ldiv
lgamma lgammaf lgammal llabs lldiv llrint llrintf llrintl llround llroundf llroundl localeconv
localtime localtime_s log log10 log10f log10l log1p log1pf log1pl log2 log2f log2l logb logbf
logbl logf logl longjmp lrint lrintf lrintl lround lroundf lroundl main malloc math_errhandling
mblen mbrlen mbrtoc16 mbrtoc32 mbrtowc mbsinit mbsrtowcs mbsrtowcs_s mbstowcs mbstowcs_s mbtowc
memalignment memchr memcmp memcpy memcpy_s memmove memmove_s memory_order memset memset_explicit
memset_s mktime modf modff modfl nan nanf nanl nearbyint nearbyintf nearbyintl nextafter
nextafterf nextafterl nexttoward nexttowardf nexttowardl offsetof once_flag perror pow powf powl
printf printf_s putc putchar puts putwc putwchar qsort qsort_s quick_exit raise rand realloc
remainder remainderf remainderl remove remquo remquof remquol rename rewind rint rintf rintl
round roundeven roundf roundl scalbln scalblnf scalblnl scalbn scalbnf scalbnl scanf scanf_s
set_constraint_handler_s setbuf setjmp setlocale setvbuf signal signbit sin sinf sinh sinhf
sinhl sinl snprintf snprintf_s snwprintf_s sprintf sprintf_s sqrt sqrtf sqrtl srand sscanf
sscanf_s stderr stdin stdout strcat strcat_s strchr strcmp strcoll strcpy strcpy_s strcspn
strerror strerror_s strerrorlen_s strfromd strfromf strfroml strftime strlen strncat strncat_s
strncmp strncpy strncpy_s strnlen_s strpbrk strrchr strspn strstr strtod strtof strtoimax strtok
strtok_s strtol strtold strtoll strtoul strtoull strtoumax strxfrm swprintf swprintf_s swscanf
swscanf_s system tan tanf tanh tanhf tanhl tanl tgamma tgammaf tgammal time timespec
timespec_get timespec_getres tm tmpfile tmpfile_s tmpnam tmpnam_s tolower toupper towctrans
towlower towupper trunc truncf truncl ungetc ungetwc va_arg va_copy va_end va_list va_start
vfprintf vfprintf_s vfscanf vfscanf_s vfwprintf vfwprintf_s vfwscanf vfwscanf_s vprintf
vprintf_s vscanf vscanf_s vsnprintf vsnprintf_s vsnwprintf_s vsprintf vsprintf_s vsscanf
vsscanf_s vswprintf vswprintf_s vswscanf vswscanf_s vwprintf vwprintf_s vwscanf vwscanf_s
wcrtomb wcrtomb_s wcscat wcscat_s wcschr wcscmp wcscoll wcscpy wcscpy_s wcscspn wcsftime wcslen
wcsncat wcsncat_s wcsncmp wcsncpy wcsncpy_s wcsnlen_s wcspbrk wcsrchr wcsrtombs wcsrtombs_s
wcsspn wcsstr wcstod wcstof wcstoimax wcstok wcstok_s wcstol wcstold wcstoll wcstombs wcstombs_s
wcstoul wcstoull wcstoumax wcsxfrm wctob wctomb wctomb_s wctrans wctype wmemchr wmemcmp wmemcpy
wmemcpy_s wmemmove wmemmove_s wmemset wprintf wprintf_s wscanf wscanf_s
]]
