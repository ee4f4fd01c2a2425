package objects

import (
	"fmt"
	"strings"

	"hongbao/chat"
)

// longestPart is the largest number of characters of each part of a name.
const longestPart = 100

// split returns the folder and the file of a name. Its error wraps chat.ErrUnavailable, because only a bug makes a bad name.
func split(name string) (folder, file string, err error) {
	folder, file, _ = strings.Cut(name, "/")
	if !goodPart(folder) || !goodPart(file) {
		return "", "", badName(name)
	}
	return folder, file, nil
}

// checkRange refuses what List must not be asked for. Both arguments may be empty.
func checkRange(folder, after string) error {
	if folder != "" && !goodPart(folder) {
		return badName(folder)
	}
	if after != "" {
		_, _, err := split(after)
		return err
	}
	return nil
}

func badName(name string) error {
	const want = "a folder and a file, each of 1 to %d of the characters a-z, 0-9, - and ., and not beginning with ."
	return fmt.Errorf("objects: the name %.250q is not "+want+": %w", name, longestPart, chat.ErrUnavailable)
}

func goodPart(part string) bool {
	if part == "" || len(part) > longestPart || part[0] == '.' {
		return false
	}
	for _, c := range []byte(part) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return false
		}
	}
	return true
}
