// Starts a program that ends with its parent: `wavesmith-launch PARENT_PID PROGRAM ARGS…`. The death signal survives execve(2), so a program
// whose device process is killed does not stay behind. Source: prctl(2), PR_SET_PDEATHSIG.
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s PARENT_PID PROGRAM ARGS...\n", argv[0]);
    return 2;
  }
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    std::perror("wavesmith: prctl");
    return 126;
  }
  // The parent may have ended before the call.
  if (getppid() != static_cast<pid_t>(std::strtol(argv[1], nullptr, 10))) return 137;
  execvp(argv[2], argv + 2);
  const int error = errno;
  std::fprintf(stderr, "wavesmith: cannot run '%s': %s\n", argv[2], std::strerror(error));
  return error == ENOENT ? 127 : 126;
}
