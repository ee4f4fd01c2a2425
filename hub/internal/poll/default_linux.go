package poll

// New returns the best poller for this operating system. On Linux that is the epoll poller.
func New() Poller { return NewEpoll() }
