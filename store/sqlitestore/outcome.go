package sqlitestore

import (
	"errors"
	"fmt"

	"hongbao/chat"
	"hongbao/redpacket"
)

// outcome converts an error for the caller. A domain error passes unchanged, and any other error becomes
// chat.ErrUnavailable. Only errors that refusal lists pass, so no failure of SQLite looks like a refusal.
func outcome(doing string, err error) error {
	if err == nil || refusal(err) {
		return err
	}
	return unavailable(doing, err)
}

// refusal reports whether callers may see the error as it is: a domain error, or a failure that is wrapped in
// chat.ErrUnavailable already. FieldError and CommitmentError count, because they wrap a listed error.
func refusal(err error) bool {
	for _, word := range []error{
		chat.ErrBadRequest, chat.ErrTooLong, chat.ErrLimitExceeded, chat.ErrForbidden, chat.ErrNotFound,
		chat.ErrNotMember, chat.ErrMuted, chat.ErrBanned, chat.ErrContactRefused, chat.ErrKeyReused, chat.ErrConflict, chat.ErrEditWindowOver, chat.ErrUnavailable,
		redpacket.ErrInsufficientBalance, redpacket.ErrWalletFrozen, redpacket.ErrNotRecipient, redpacket.ErrWrongPassphrase, redpacket.ErrPacketFinished,
	} {
		if errors.Is(err, word) {
			return true
		}
	}
	return false
}

// unavailable wraps a driver's failure with chat.ErrUnavailable.
func unavailable(doing string, err error) error {
	return fmt.Errorf("%s: %w: %w", doing, chat.ErrUnavailable, err)
}
