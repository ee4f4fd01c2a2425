package main

import (
	"errors"
	"os"
	"path/filepath"

	"hongbao/store/secret"
)

// writeDurably replaces a file, or makes it. Only this user may read it. After a crash or a power loss it has the old text or
// the new one.
func writeDurably(name, text string) error {
	dir := filepath.Dir(name)
	draft, err := os.CreateTemp(dir, "."+filepath.Base(name)+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = draft.WriteString(text)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err == nil {
		err = os.Rename(draft.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return secret.SyncFolder(dir)
}
