// Package auth verifies and signs bearer tokens. It knows two issuers: the host, whose users it admits, and the server
// itself, which signs the tokens of guests.
//
// It must always hold:
//
//   - An unsigned token, and a token signed with another key, is refused.
//   - The key decides the algorithm. A token cannot choose how it is checked.
//   - A token of the host cannot be for a guest, and a guest's token cannot be for a user of the host.
//   - Claims are matched by their exact names (RFC 7519): "Scope" is not "scope".
//   - A temporary failure to fetch keys never makes a token invalid: the error of Verify then wraps chat.ErrUnavailable.
//
// Package auth does not know which tokens were revoked; chat.Service.Admit does.
//
//	goroutine    started by             ends when                                         may block on
//	key refresh  Verifier.Run           its context ends                                  a fetch
//	one fetch    remoteKeys.startFetch  it is done, fetchTimeout is over, or Run returns  the host's server
package auth
