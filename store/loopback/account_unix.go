//go:build unix

package loopback

import "syscall"

// credential returns the account's ids for starting a process. It is nil for a nil account: the one of this process.
func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
}
