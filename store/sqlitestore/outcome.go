package sqlitestore

import (
	"fmt"

	"hongbao/chat"
)

// outcome converts an error for the caller. A domain error passes unchanged, and any other error becomes
// chat.ErrUnavailable. FieldError and CommitmentError wrap domain errors.
func outcome(doing string, err error) error {
	if err == nil || chat.IsRequestError(err) {
		return err
	}
	return unavailable(doing, err)
}

// unavailable wraps a driver's failure with chat.ErrUnavailable.
func unavailable(doing string, err error) error {
	return fmt.Errorf("%s: %w: %w", doing, chat.ErrUnavailable, err)
}
