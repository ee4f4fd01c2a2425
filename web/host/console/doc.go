// Package console is the page for the team behind the product: it is served beside the server API, on the same listener.
//
// It owns the sign-in, the session and the files of the page. It must always hold:
//
//   - What a person sees and does goes through the handlers of the server API, with the scopes and limits of the person's key. The package itself
//     reads no data of users.
//   - A request without a valid session learns nothing but whether there are keys.
//   - A key that is removed from the keys file ends its sessions at the next request.
//   - A request that changes something is sent by the page itself: it has a header that a form of another site cannot send.
//   - Strangers use up no memory: a session is an encrypted cookie, and the server stores nothing of it.
package console
