package loopback

// Pause stops the server (SIGSTOP): it answers nothing, and its connections stay open. On Linux all its processes stop. On
// other Unix systems only the main process stops, so open connections are still served.
func (p *Postgres) Pause() {
	if process := p.current(); process != nil {
		pause(process.cmd.Process)
		pauseChildren(process.cmd.Process.Pid)
	}
}

// Resume lets a paused server go on.
func (p *Postgres) Resume() {
	if process := p.current(); process != nil {
		resumeChildren(process.cmd.Process.Pid)
		resume(process.cmd.Process)
	}
}

// Running reports whether the server's process runs. A server that has no space left on its disk may end by itself.
func (p *Postgres) Running() bool {
	process := p.current()
	return process != nil && !process.hasEnded()
}
