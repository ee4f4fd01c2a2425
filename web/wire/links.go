package wire

// Link is an invite link of a room, without its code.
type Link struct {
	ID        string `json:"id"`
	By        User   `json:"by"`
	CreatedAt int64  `json:"created_at"`
	ExpiresAt int64  `json:"expires_at"`
	Uses      int    `json:"uses"`
	MaxUses   int    `json:"max_uses,omitempty"` // missing: any number
	Approval  bool   `json:"approval,omitempty"`
}

// CreateLinkRequest is the request of create_link.
type CreateLinkRequest struct {
	Room     string `json:"room"`
	Key      string `json:"key,omitempty" doc:"repeats return the same link; draw it at random"`
	TTLS     int64  `json:"ttl_s,omitempty" min:"1" doc:"seconds until it expires, 1 to 31536000; a week if left out"`
	MaxUses  int    `json:"max_uses,omitempty" min:"1" doc:"how many users may enter by it, or ask to, 1 to 'room_members'; any number if left out"`
	Approval bool   `json:"approval,omitempty" doc:"users that come by it ask to enter, and the owner or an admin [lets them in](#answer_request)"`
}

// CreateLinkReply is the reply of create_link.
type CreateLinkReply struct {
	Link Link   `json:"link"`
	Code string `json:"code"`
	Dup  bool   `json:"dup,omitempty"` // the link was made by an earlier request with this key
}

// LinksRequest is the request of links.
type LinksRequest struct {
	Room string `json:"room"`
}

// LinksReply is the reply of links.
type LinksReply struct {
	Links []Link `json:"links"`
}

// RevokeLinkRequest is the request of revoke_link.
type RevokeLinkRequest struct {
	Room string `json:"room"`
	Link string `json:"link" doc:"the id of the link"`
}

// RevokeLinkReply is the reply of revoke_link.
type RevokeLinkReply struct{}

// JoinLinkRequest is the request of join_link.
type JoinLinkRequest struct {
	Code string `json:"code" doc:"the code of the link"`
}

// JoinLinkReply is the reply of join_link. It has a room, or the user waits for approval.
type JoinLinkReply struct {
	Room    *Room `json:"room,omitempty"`
	Waiting bool  `json:"waiting,omitempty"`
}

// JoinRequestsRequest is the request of join_requests.
type JoinRequestsRequest struct {
	Room string `json:"room"`
}

// JoinRequestsReply is the reply of join_requests.
type JoinRequestsReply struct {
	Requests []AskingUser `json:"requests"`
}

// AskingUser is a user that asks to enter a room.
type AskingUser struct {
	User User  `json:"user"`
	At   int64 `json:"at"`
}

// AnswerRequestRequest is the request of answer_request.
type AnswerRequestRequest struct {
	Room  string `json:"room"`
	User  string `json:"user" doc:"the user; 'not_found field=user' if the user is to be let in and does not ask"`
	Admit bool   `json:"admit,omitempty" doc:"let the user in; otherwise the request is dropped, and the user may ask again"`
}

// AnswerRequestReply is the reply of answer_request.
type AnswerRequestReply struct{}

// PreviewLinkRequest is the request of preview_link. Packet is the id of a packet of the room for which the link was shared;
// missing: none.
type PreviewLinkRequest struct {
	Code   string `json:"code"`
	Packet string `json:"packet,omitempty"`
}

// PreviewLinkReply is the reply of preview_link. It has no ids: a visitor must not be able to write to the members.
type PreviewLinkReply struct {
	Room   PreviewRoom    `json:"room"`
	By     Face           `json:"by"`     // the creator of the link
	People []Face         `json:"people"` // a few members
	Packet *PreviewPacket `json:"packet,omitempty"`

	Approval bool `json:"approval,omitempty"` // the owner or an admin must let the visitor in
}

// PreviewRoomRequest is the request of preview_room.
type PreviewRoomRequest struct {
	Room string `json:"room"`
}

// PreviewRoomReply is the reply of preview_room.
type PreviewRoomReply struct {
	Room PreviewRoom `json:"room"`
}

// PreviewRoom is the room that a link leads to.
type PreviewRoom struct {
	Name    string `json:"name"`
	Kind    string `json:"kind" enum:"public,private"`
	Members int    `json:"members"`
	Guests  *bool  `json:"guests,omitempty"` // whether guests may enter; missing: true
}

// PreviewPacket is the packet that an invite link was shared for.
type PreviewPacket struct {
	From     Face   `json:"from"`
	Greeting string `json:"greeting"`
}

// Face is what visitors see of a user.
type Face struct {
	Name   string `json:"name"`
	Avatar string `json:"avatar,omitempty"`
}
