package redpacket

import "errors"

// What can be wrong with a packet's request, besides the sentinels of package chat.
var (
	ErrInsufficientBalance = errors.New("insufficient_balance")
	ErrNotRecipient        = errors.New("not_recipient")
	ErrWrongPassphrase     = errors.New("wrong_passphrase")
	ErrPacketFinished      = errors.New("packet_finished")
)

// CommitmentError is chat.ErrConflict with the commitment that holds now.
type CommitmentError struct {
	Err  error
	Next string
}

func (e *CommitmentError) Error() string { return e.Err.Error() + " next_commitment=" + e.Next }

func (e *CommitmentError) Unwrap() error { return e.Err }
