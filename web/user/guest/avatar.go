package guest

import "fmt"

const mostAvatar = 12 // avatars that the page draws: the files static/avatars/1.svg and so on

// Avatars returns the addresses of the avatars that a guest may choose, relative to the server.
func Avatars() []string {
	list := make([]string, mostAvatar)
	for i := range list {
		list[i] = fmt.Sprintf("avatars/%d.svg", i+1)
	}
	return list
}
