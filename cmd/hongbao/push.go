package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"hongbao/chat"
	"hongbao/store"
	"hongbao/web/user/webpush"
)

// pushKeyFile is the file beside the embedded database with the key of Web Push, unless HONGBAO_PUSH_KEY is set. A browser's push
// subscription is bound to one key: a server with another key cannot send it notifications.
const pushKeyFile = "push-key"

// newPush makes the notifier of Web Push, which passes every message on to next. It returns nil if HONGBAO_PUSH_CONTACT is empty.
func newPush(c config, next chat.Publisher, engines *store.Engines, log *slog.Logger) (*webpush.Notifier, error) {
	if c.PushContact == "" {
		return nil, nil
	}
	keys, err := pushKeys(c)
	if err != nil {
		return nil, err
	}
	return webpush.New(next, webpush.Options{
		Keys: keys, Contact: c.PushContact, Allowed: c.PushAllow, Store: engines.Chat, Presence: engines.Presence, Log: log,
	}), nil
}

// pushKeys reads the keys from the setting or from the data folder. If neither has them, it makes new ones in the data folder.
func pushKeys(c config) (webpush.Keys, error) {
	if c.PushKey != "" {
		keys, err := webpush.ParseKeys(c.PushKey)
		if err != nil {
			err = fmt.Errorf("HONGBAO_PUSH_KEY %w", err) // the error does not contain the key
		}
		return keys, err
	}
	path := filepath.Join(c.DataDir, pushKeyFile)
	text, err := os.ReadFile(path)
	if err == nil {
		keys, err := webpush.ParseKeys(strings.TrimSpace(string(text)))
		if err != nil {
			err = fmt.Errorf("%s %w", path, err)
		}
		return keys, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return webpush.Keys{}, fmt.Errorf("key of Web Push: %w", err)
	}
	keys, err := webpush.NewKeys()
	if err != nil {
		return keys, err
	}
	return keys, writeDurably(path, keys.Private+"\n")
}
