package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web"
)

// The key that signs the tokens of guests does not lie in the database, because a reader of the database must not be able to act as
// a guest. Unless HONGBAO_GUEST_KEY is set, it lies in a file beside the embedded database.
const (
	guestKeyBytes   = 32
	guestKeyFile    = "guest-key"
	guestKeyOldFile = "guest-key.previous" // optional
)

// guestsOf returns the settings of guests: keys, play money and reserved names. It makes a key if there is none.
func guestsOf(c config) (web.Guests, error) {
	if c.Guests == guestsOff {
		return web.Guests{}, nil
	}
	key, previous, err := guestKeys(c)
	if err == nil && key == nil {
		key, err = newGuestKey(c.DataDir)
	}
	if err != nil {
		return web.Guests{}, fmt.Errorf("guests' key: %w", err)
	}
	return web.Guests{Key: key, PreviousKey: previous, Credit: redpacket.Money(c.GuestCredit.amount), Reserved: chat.ReservedNames(c.ReservedNames)}, nil
}

// guestKeys reads the keys from the settings. If they are not set, it reads them from the data folder. A key that does not exist is
// nil.
func guestKeys(c config) (key, previous []byte, err error) {
	if c.GuestKey != "" {
		key, err = parseGuestKey("HONGBAO_GUEST_KEY", c.GuestKey)
		if err == nil && c.GuestKeyOld != "" {
			previous, err = parseGuestKey("HONGBAO_GUEST_KEY_PREVIOUS", c.GuestKeyOld)
		}
		return key, previous, err
	}
	if key, err = readGuestKey(filepath.Join(c.DataDir, guestKeyFile)); err != nil {
		return nil, nil, err
	}
	previous, err = readGuestKey(filepath.Join(c.DataDir, guestKeyOldFile))
	return key, previous, err
}

func readGuestKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return parseGuestKey(path, strings.TrimSpace(string(text)))
}

func parseGuestKey(source, text string) ([]byte, error) {
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != guestKeyBytes {
		return nil, fmt.Errorf("%s is not %d hex digits, such as `openssl rand -hex %d` prints", source, 2*guestKeyBytes, guestKeyBytes)
	}
	return key, nil
}

// newGuestKey draws a key and stores it in the data folder.
func newGuestKey(dir string) ([]byte, error) {
	key := make([]byte, guestKeyBytes)
	_, _ = rand.Read(key) // never fails: crypto/rand stops the process instead
	return key, writeDurably(filepath.Join(dir, guestKeyFile), hex.EncodeToString(key)+"\n")
}
