package redpacket

import "errors"

// Errors of packet requests, besides the sentinels of package chat.
var (
	ErrInsufficientBalance = errors.New("insufficient_balance")
	ErrNotRecipient        = errors.New("not_recipient")
	// ErrWalletFrozen means that a wallet may not spend.
	ErrWalletFrozen = errors.New("wallet_frozen")
	// ErrJoinedLater means that the packet is for members that joined before it was sent.
	ErrJoinedLater     = errors.New("joined_later")
	ErrWrongPassphrase = errors.New("wrong_passphrase")
	ErrPacketFinished  = errors.New("packet_finished")
)

// CommitmentError means that the sender expected another commitment than the present one. Next is the present one. The
// error wraps chat.ErrConflict.
type CommitmentError struct {
	Err  error
	Next string
}

func (e *CommitmentError) Error() string { return e.Err.Error() + " next_commitment=" + e.Next }

func (e *CommitmentError) Unwrap() error { return e.Err }
