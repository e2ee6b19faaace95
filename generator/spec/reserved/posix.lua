--- Names of POSIX, and what C libraries declare beside them unless asked not to.
-- Names that end in _t and whole families of names are rules in spec/names.lua.

return [[
ACTION ALT_DIGITS AM_STR BOOT_TIME BRKINT CHARCLASS_NAME_MAX CLOCAL CMSG_ALIGN CODESET
COLL_WEIGHTS_MAX CRDLY CREAD CRNCYSTR CSTOPB DEAD_PROCESS DELAYTIMER_MAX DIR D_FMT D_T_FMT E2BIG
EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY EBADE EBADF EBADFD EBADMSG
EBADR EBADRQC EBADSLT EBFONT EBUSY ECANCELED ECHILD ECHO ECHOE ECHOK ECHONL ECHRNG ECOMM
ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDEADLOCK EDESTADDRREQ EDOTDOT EDQUOT EEXIST EFAULT
EFBIG EHOSTDOWN EHOSTUNREACH EHWPOISON EIDRM EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR EISNAM
EKEYEXPIRED EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC EL3HLT EL3RST ELIBACC ELIBBAD ELIBEXEC
ELIBMAX ELIBSCN ELNRNG ELOOP EMEDIUMTYPE EMFILE EMLINK EMPTY EMSGSIZE EMULTIHOP ENAMETOOLONG
ENAVAIL ENETDOWN ENETRESET ENETUNREACH ENFILE ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT
ENOEXEC ENOKEY ENOLCK ENOLINK ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR
ENOSTR ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY
ENOTUNIQ ENTER ENTRY ENXIO EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPROTO
EPROTONOSUPPORT EPROTOTYPE ERA ERA_D_FMT ERA_D_T_FMT ERA_T_FMT EREMCHG EREMOTE EREMOTEIO
ERESTART ERFKILL EROFS ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME
ETIMEDOUT ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL EXPR_NEST_MAX
FD_CLOEXEC FD_CLR FD_ISSET FD_SET FD_SETSIZE FD_ZERO FIND FTW F_OK HOST_NAME_MAX HUPCL ICANON
ICRNL IEXTEN IGNBRK IGNCR IGNPAR IMAXBEL INET6_ADDRSTRLEN INET_ADDRSTRLEN INLCR INPCK IOV_MAX
ISIG ISTRIP IUCLC IUTF8 IXANY IXOFF IXON LINE_MAX LOGIN_NAME_MAX LOGIN_PROCESS LONG_BIT
L_ctermid MAGIC MAXFLOAT MAX_CANON MAX_INPUT MINSIGSTKSZ MM_OK MQ_PRIO_MAX M_1_PI M_2_PI
M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 M_PI_4 M_SQRT1_2 M_SQRT2 NAME_MAX NCCS
NEW_TIME NGROUPS_MAX NOEXPR NOFLSH NZERO OCRNL OFDEL OFILL OLCUC OLD_TIME ONLCR ONLRET ONOCR
OPOST PARENB PARMRK PARODD PATH_MAX PIPE_BUF PM_STR POLLERR POLLIN POLLOUT P_ALL P_PGID P_PID
P_tmpdir RADIXCHAR RLIM_INFINITY RLIM_SAVED_CUR RLIM_SAVED_MAX R_OK SEM_FAILED SEM_UNDO
SEM_VALUE_MAX SHMLBA SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGHUP SIGIO SIGIOT SIGKILL SIGPIPE
SIGPOLL SIGPROF SIGPWR SIGQUIT SIGRTMAX SIGRTMIN SIGSTKFLT SIGSTKSZ SIGSTOP SIGSYS SIGTRAP
SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ SIG_BLOCK
SIG_HOLD SIG_SETMASK SIG_UNBLOCK SOMAXCONN SSIZE_MAX STDERR_FILENO STDIN_FILENO STDOUT_FILENO
S_TYPEISMQ S_TYPEISSEM S_TYPEISSHM TCIFLUSH TCIOFF TCIOFLUSH TCION TCOFLUSH TCOOFF TCOON
TCSADRAIN TCSAFLUSH TCSANOW THOUSEP TIMER_ABSTIME TMAGIC TMAGLEN TOSTOP TSGID TSUID TTY_NAME_MAX
TVERSION TVERSLEN T_FMT T_FMT_AMPM USER_PROCESS VEOL2 VISIT WCONTINUED WEXITED WEXITSTATUS
WIFCONTINUED WIFEXITED WIFSIGNALED WIFSTOPPED WNOHANG WNOWAIT WORD_BIT WSTOPPED WSTOPSIG
WTERMSIG WUNTRACED W_OK X_OK YESEXPR a64l accept accept4 access acct addrinfo addseverity
adjtime aio_cancel aio_error aio_fsync aio_read aio_return aio_suspend aio_write aiocb alarm
alloca alphasort arc4random arc4random_buf arc4random_uniform asctime_r asprintf basename bcmp
bcopy bind bindresvport bindresvport6 brk bsd_signal bzero catclose catgets catopen cfgetispeed
cfgetospeed cfmakeraw cfsetispeed cfsetospeed cfsetspeed chdir chmod chown chroot clearenv
clearerr_unlocked clock_getcpuclockid clock_getres clock_gettime clock_nanosleep clock_settime
close closedir closefrom closelog cmsghdr confstr connect creat crypt ctermid ctime_r cuserid
daemon datum daylight dbm_clearerr dbm_close dbm_delete dbm_error dbm_fetch dbm_firstkey
dbm_nextkey dbm_open dbm_store dirent dirfd dirname dladdr dlclose dlerror dlopen dlsym dprintf
drand48 drand48_r dup dup2 dup3 duplocale dysize ecvt ecvt_r encrypt endgrent endhostent
endnetent endnetgrent endorder endprotoent endpwent endrpcent endservent endusershell endutxent
entry environ erand48 erand48_r execl execle execlp execv execve execvp explicit_bzero faccessat
fattach fchdir fchmod fchmodat fchown fchownat fcntl fcvt fcvt_r fd_mask fd_set fdatasync
fdetach fdopen fdopendir feof_unlocked ferror_unlocked fexecve fflush_unlocked ffs ffsl ffsll
fgetc_unlocked fgetgrent fgetgrent_r fgetpwent fgetpwent_r fileno fileno_unlocked finite finitef
finitel flock flockfile fmemopen fmtmsg fnmatch fork fpathconf fputc_unlocked fread_unlocked
freeaddrinfo freelocale fseeko fstat fstatat fstatvfs fsync ftello ftime ftok ftruncate
ftrylockfile ftw funlockfile futimens futimes fwrite_unlocked gai_strerror gamma gammaf gammal
gcvt getaddrinfo getc_unlocked getchar_unlocked getcontext getcwd getdate getdate_err getdelim
getdirentries getdomainname getdtablesize getegid getentropy geteuid getgid getgrent getgrgid
getgrgid_r getgrnam getgrnam_r getgrouplist getgroups gethostbyaddr gethostbyaddr_r
gethostbyname gethostbyname2 gethostbyname2_r gethostbyname_r gethostent gethostent_r gethostid
gethostname getitimer getline getloadavg getlogin getlogin_r getmsg getnameinfo getnetbyaddr
getnetbyaddr_r getnetbyname getnetbyname_r getnetent getnetent_r getnetgrent getnetgrent_r
getopt getpagesize getpass getpeername getpgid getpgrp getpid getpmsg getppid getpriority
getprotobyname getprotobyname_r getprotobynumber getprotobynumber_r getprotoent getprotoent_r
getpwent getpwent_r getpwnam getpwnam_r getpwuid getpwuid_r getrlimit getrpcbyname
getrpcbyname_r getrpcbynumber getrpcbynumber_r getrpcent getrpcent_r getrusage getservbyname
getservbyname_r getservbyport getservbyport_r getservent getservent_r getsid getsockname
getsockopt getsubopt gettimeofday getuid getusershell getutxent getutxid getutxline getw getwd
glob globfree gmtime_r grantpt group gsignal hcreate hdestroy herror hostent hsearch hstrerror
htonl htons iconv iconv_close iconv_open if_freenameindex if_indextoname if_nameindex
if_nametoindex in6_addr in6addr_any in6addr_loopback in_addr index inet_addr inet_aton
inet_lnaof inet_makeaddr inet_net_ntop inet_net_pton inet_neta inet_netof inet_network
inet_nsap_addr inet_nsap_ntoa inet_ntoa inet_ntop inet_pton initgroups initstate initstate_r
innetgr insque ioctl iovec ipc_perm ipv6_mreq iruserok iruserok_af isalnum_l isalpha_l isascii
isastream isatty isblank_l iscntrl_l isdigit_l isfdtype isgraph_l isinff isinfl islower_l isnanf
isnanl isprint_l ispunct_l isspace_l isupper_l iswalnum_l iswalpha_l iswblank_l iswcntrl_l
iswctype_l iswdigit_l iswgraph_l iswlower_l iswprint_l iswpunct_l iswspace_l iswupper_l
iswxdigit_l isxdigit_l itimerspec itimerval j0 j0f j0l j1 j1f j1l jn jnf jnl jrand48 jrand48_r
kill killpg l64a lchmod lchown lcong48 lcong48_r leaf lfind lgamma_r lgammaf_r lgammal_r linger
link linkat lio_listio listen localtime_r lockf lrand48 lrand48_r lsearch lseek lstat lutimes
madvise makecontext mbsnrtowcs memccpy memmem mincore mkdir mkdirat mkdtemp mkfifo mkfifoat
mknod mknodat mkstemp mkstemps mktemp mlock mlockall mmap mprotect mq_attr mq_close mq_getattr
mq_notify mq_open mq_receive mq_send mq_setattr mq_timedreceive mq_timedsend mq_unlink mrand48
mrand48_r msgctl msgget msghdr msgrcv msgsnd msqid_ds msync munlock munlockall munmap nanosleep
netent newlocale nftw nice nl_catd nl_item nl_langinfo nl_langinfo_l nrand48 nrand48_r ntohl
ntohs on_exit open open_memstream open_wmemstream openat opendir openlog optarg opterr optind
optopt passwd pathconf pause pclose pipe pipe2 poll pollfd popen postorder ppoll pread preadv
preorder profil protoent pselect psiginfo psignal ptsname putc_unlocked putchar_unlocked putenv
putmsg putpmsg putpwent pututxline putw pwrite pwritev qecvt qecvt_r qfcvt qfcvt_r qgcvt qsort_r
rand_r random random_r rcmd rcmd_af read readdir readdir_r readlink readlinkat readv
reallocarray realpath recv recvfrom recvmsg regcomp regerror regexec regfree remque renameat
revoke rewinddir rexec rexec_af rindex rlimit rmdir rpmatch rresvport rresvport_af rusage
ruserok ruserok_af sa_handler sa_sigaction sbrk scalb scalbf scalbl scandir
sched_get_priority_max sched_get_priority_min sched_getparam sched_getscheduler sched_param
sched_rr_get_interval sched_setparam sched_setscheduler sched_yield secure_getenv seed48
seed48_r seekdir select sem_close sem_destroy sem_getvalue sem_init sem_open sem_post
sem_timedwait sem_trywait sem_unlink sem_wait sembuf semctl semget semid_ds semop send sendmsg
sendto servent setbuffer setcontext setdomainname setegid setenv seteuid setgid setgrent
setgroups sethostent sethostid sethostname setitimer setkey setlinebuf setlogin setlogmask
setnetent setnetgrent setpgid setpgrp setpriority setprotoent setpwent setregid setreuid
setrlimit setrpcent setservent setsid setsockopt setstate setstate_r settimeofday setuid
setusershell setutxent shm_open shm_unlink shmat shmctl shmdt shmget shmid_ds shutdown si_addr
si_band si_code si_errno si_fd si_int si_pid si_ptr si_signo si_status si_uid si_value sig2str
sigaction sigaddset sigaltstack sigblock sigdelset sigemptyset sigevent sigfillset siggetmask
sighold sigignore siginterrupt sigismember sigjmp_buf siglongjmp sigmask signgam sigpause
sigpending sigprocmask sigqueue sigrelse sigreturn sigset sigsetjmp sigsetmask sigstack
sigsuspend sigtimedwait sigval sigwait sigwaitinfo sleep sockaddr sockaddr_in sockaddr_in6
sockaddr_storage sockaddr_un sockatmark socket socketpair srand48 srand48_r srandom srandom_r
ssignal st_atime st_ctime st_mtime stat statvfs stpcpy stpncpy str2sig strcasecmp strcasecmp_l
strcoll_l strdup strerror_l strerror_r strfmon strfmon_l strftime_l strlcat strlcpy strncasecmp
strncasecmp_l strndup strnlen strptime strsep strsignal strtok_r strtoq strtouq strxfrm_l swab
swapcontext symlink symlinkat sync syscall sysconf syslog tcdrain tcflow tcflush tcgetattr
tcgetpgrp tcgetsid tcsendbreak tcsetattr tcsetpgrp tdelete telldir tempnam termios tfind timegm
timelocal timer_create timer_delete timer_getoverrun timer_gettime timer_settime times timeval
timezone tmpnam_r tms toascii tolower_l toupper_l towctrans_l towlower_l towupper_l truncate
tsearch ttyname ttyname_r ttyslot twalk tzname tzset u_char u_int u_long u_short ualarm uint
ulimit ulong umask uname unlink unlinkat unlockpt unsetenv uselocale ushort usleep utimbuf utime
utimensat utimes utmpx utsname valloc vasprintf vdprintf vfork vhangup vsyslog wait wait3 wait4
waitid waitpid wcpcpy wcpncpy wcscasecmp wcscasecmp_l wcscoll_l wcsdup wcsncasecmp wcsncasecmp_l
wcsnlen wcsnrtombs wcswcs wcswidth wcsxfrm_l wctrans_l wctype_l wcwidth wordexp wordfree write
writev y0 y0f y0l y1 y1f y1l yn ynf ynl
]]
