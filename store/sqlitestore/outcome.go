package sqlitestore

import (
	"errors"
	"fmt"

	"hongbao/chat"
	"hongbao/redpacket"
)

// outcome is how an error leaves the store: what the domain packages have a word for passes as it is, all
// else is the engine's failure. Going by the words, and not by the engine's many error types, makes sure
// that none of those ever looks like a refusal.
func outcome(doing string, err error) error {
	if err == nil || refusal(err) {
		return err
	}
	return unavailable(doing, err)
}

// refusal tells whether the error is a domain's answer, FieldError and CommitmentError among them: they
// unwrap to a sentinel.
func refusal(err error) bool {
	for _, word := range []error{
		chat.ErrBadRequest, chat.ErrTooLong, chat.ErrLimitExceeded, chat.ErrForbidden, chat.ErrNotFound,
		chat.ErrNotMember, chat.ErrMuted, chat.ErrBanned, chat.ErrKeyReused, chat.ErrConflict, chat.ErrEditWindowOver, chat.ErrUnavailable,
		redpacket.ErrInsufficientBalance, redpacket.ErrNotRecipient, redpacket.ErrWrongPassphrase, redpacket.ErrPacketFinished,
	} {
		if errors.Is(err, word) {
			return true
		}
	}
	return false
}

// unavailable wraps a driver's failure, so that callers see one sentinel and logs the whole story.
func unavailable(doing string, err error) error {
	return fmt.Errorf("%s: %w: %w", doing, chat.ErrUnavailable, err)
}
