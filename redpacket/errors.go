package redpacket

import "hongbao/chat"

// Errors of packet requests, besides the sentinels of package chat.
var (
	ErrInsufficientBalance error = chat.RequestError("insufficient_balance")
	ErrNotRecipient        error = chat.RequestError("not_recipient")
	// ErrWalletFrozen means that a wallet may not spend.
	ErrWalletFrozen error = chat.RequestError("wallet_frozen")
	// ErrJoinedLater means that the packet is for members that joined before it was sent.
	ErrJoinedLater     error = chat.RequestError("joined_later")
	ErrWrongPassphrase error = chat.RequestError("wrong_passphrase")
	ErrPacketFinished  error = chat.RequestError("packet_finished")
	// ErrNotYet means that the packet has not opened. A NotYetError wraps it.
	ErrNotYet error = chat.RequestError("not_yet")
)

// CommitmentError means that the sender expected another commitment than the present one. Next is the present one. Packet is the
// sender's packet that has used the expected commitment; "" if none of the last hour has. The error wraps chat.ErrConflict.
type CommitmentError struct {
	Err    error
	Next   string
	Packet string
}

func (e *CommitmentError) Error() string { return e.Err.Error() + " next_commitment=" + e.Next }

func (e *CommitmentError) Unwrap() error { return e.Err }
