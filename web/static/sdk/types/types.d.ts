export type User = {
    id: string;
    name: string;
    avatar?: string;
    guest?: boolean;
};
export type Role = "owner" | "admin" | "member";
/**
 * the drawing on the envelope of a packet
 */
export type Skin = "cloud" | "koi" | "plum";
/**
 * which members may invite users
 */
export type Inviters = "members" | "admins";
/**
 * read_seq and unread are set for the user's own rooms, as of the last connect
 */
export type Room = {
    id: string;
    name: string;
    kind: "public" | "private" | "direct";
    announcement?: string | undefined;
    /**
     * missing: admins in a private room, else members
     */
    invite?: Inviters | undefined;
    /**
     * missing: true
     */
    guests?: boolean | undefined;
    members: number;
    last_seq: number;
    created_at: number;
    role?: Role | undefined;
    read_seq?: number | undefined;
    unread?: number | undefined;
    /**
     * see RoomPrefs
     */
    silent?: boolean | undefined;
    pinned?: boolean | undefined;
    archived?: boolean | undefined;
};
/**
 * what the user has decided about a room
 */
export type RoomPrefs = {
    /**
     * new entries make no sound, banner, badge or notification
     */
    silent: boolean;
    /**
     * at the top of the list
     */
    pinned: boolean;
    /**
     * not in the list, until the next text or packet if the room is not silent
     */
    archived: boolean;
};
/**
 * one element of a room's sequence
 */
export type Entry = {
    seq: number;
    id: string;
    at: number;
    from: User;
    /**
     * text, packet, packet_done, member, edit, recall, react, room
     */
    kind: string;
    key?: string | undefined;
    /**
     * by kind: TextBody, PacketBody, PacketDoneBody, MemberBody, EditBody, RecallBody, ReactBody, RoomBody
     */
    body: any;
};
export type TextBody = {
    text?: string;
    data?: Record<string, any>;
    reply_to?: number;
    mentions?: string[];
    edited_at?: number;
    reactions?: Record<string, number>;
    recalled?: boolean;
};
export type PacketBody = Packet & {
    reactions?: Record<string, number>;
};
export type PacketDoneBody = {
    packet: string;
    reason: "drained" | "expired" | "cancelled";
    state: State;
    seed: string;
};
export type MemberBody = {
    user: string;
    change: "invited" | "kicked" | "banned" | "role" | "muted" | "left_private";
    by: string;
    role?: Role;
    until?: number;
};
export type EditBody = {
    target: number;
    text?: string;
    recalled?: boolean;
};
export type RecallBody = {
    target: number;
};
export type ReactBody = {
    target: number;
    emoji: string;
    on: boolean;
    count: number;
};
export type RoomBody = {
    name?: string;
    announcement?: string;
    invite?: Inviters;
    guests?: boolean;
};
/**
 * the part of a packet that never changes
 */
export type Packet = {
    id: string;
    room: string;
    from: User;
    mode: "lucky" | "equal";
    spread: "calm" | "classic" | "wild" | "";
    total: number;
    count: number;
    greeting: string;
    to?: string[] | undefined;
    locked: boolean;
    created_at: number;
    expires_at: number;
    commitment: string;
    key: string;
    /**
     * only users may grab that have been members since before the packet was sent
     */
    earlier_members?: boolean | undefined;
    /**
     * missing: the plain envelope
     */
    skin?: Skin | undefined;
};
/**
 * the state of a packet as the user may see it
 */
export type State = {
    packet: string;
    status: "open" | "drained" | "expired" | "cancelled";
    claimed: number;
    mine?: {
        amount: number;
        rank: number;
        at: number;
    } | undefined;
    luckiest?: {
        user: string;
        amount: number;
        rank: number;
    } | undefined;
    refunded?: number | undefined;
};
/**
 * an invite link
 */
export type Link = {
    id: string;
    by: User;
    created_at: number;
    expires_at: number;
    uses: number;
    max_uses?: number;
    approval?: boolean;
};
export type CreateLinkReply = {
    link: Link;
    code: string;
    dup?: boolean;
};
export type LinksReply = {
    links: Link[];
};
export type JoinLinkReply = {
    room?: Room;
    waiting?: boolean;
};
export type JoinRequestsReply = {
    requests: {
        user: User;
        at: number;
    }[];
};
/**
 * what visitors see of a user
 */
export type Face = {
    name: string;
    avatar?: string;
};
export type LinkPreview = {
    room: {
        name: string;
        kind: "public" | "private";
        members: number;
        guests?: boolean;
    };
    by: Face;
    people: Face[];
    packet?: {
        from: Face;
        greeting: string;
    };
    approval?: boolean;
};
export type Claim = {
    user: User;
    rank: number;
    at: number;
    amount?: number;
};
export type Proof = {
    seed: string;
    commitment: string;
    shares: number[];
};
export type Currency = {
    code: string;
    exponent: number;
};
/**
 * by the names of web/docs/protocol/limits.md
 */
export type Limits = Record<string, number>;
export type Transfer = {
    id: string;
    at: number;
    amount: number;
    kind: "credit" | "debit" | "send" | "claim" | "refund";
    packet?: string;
    note?: string;
};
export type Member = {
    user: User;
    role: Role;
    online: boolean;
    muted_until?: number;
    read_seq?: number;
};
/**
 * Replies.
 */
export type RoomReply = {
    room: Room;
};
/**
 * Replies.
 */
export type CreateRoomReply = {
    room: Room;
    dup: boolean;
};
/**
 * with read_seq and unread
 */
export type RoomsReply = {
    rooms: Room[];
    next?: string;
};
/**
 * Replies.
 */
export type FindRoomsReply = {
    rooms: Room[];
    next?: string;
};
/**
 * Replies.
 */
export type MembersReply = {
    members: Member[];
    next?: string;
};
/**
 * shared: users of a common room
 */
export type Contact = "everyone" | "shared" | "nobody";
/**
 * Replies.
 */
export type ContactsReply = {
    contact: Contact;
    blocked: User[];
};
/**
 * without the users that the caller may not know
 */
export type UsersReply = {
    users: User[];
};
/**
 * Replies.
 */
export type SendReply = {
    seq: number;
    id: string;
    at: number;
    dup: boolean;
};
/**
 * Replies.
 */
export type SeqReply = {
    seq: number;
};
/**
 * Replies.
 */
export type MentionsReply = {
    mentions: {
        room: string;
        entry: Entry;
    }[];
    next?: string;
};
/**
 * Replies.
 */
export type HistoryReply = {
    entries: Entry[];
    packet_states: State[];
    more: boolean;
};
/**
 * Replies.
 */
export type ReadReply = {
    unread: number;
};
/**
 * Replies.
 */
export type PresenceReply = {
    online: number;
    users?: string[];
};
/**
 * Replies.
 */
export type SendPacketReply = {
    packet: Packet;
    seq: number;
    at: number;
    balance: number;
    account_version?: number;
    next_commitment: string;
    dup: boolean;
};
/**
 * Replies.
 */
export type GrabReply = {
    packet: string;
    outcome: "won" | "already" | "empty" | "expired" | "pending";
    amount?: number;
    rank?: number;
    at?: number;
    balance?: number;
    account_version?: number;
    claimed: number;
    count: number;
};
/**
 * Replies.
 */
export type PacketReply = {
    packet: Packet;
    state: State;
    claims: Claim[];
    more: boolean;
    proof?: Proof;
};
/**
 * Replies.
 */
export type CancelPacketReply = {
    state: State;
    balance: number;
    account_version?: number;
};
/**
 * Replies.
 */
export type PacketsReply = {
    packets: {
        packet: Packet;
        state: State;
    }[];
    totals: {
        count: number;
        amount: number;
        luckiest: number;
    };
    next?: string;
};
/**
 * Replies.
 */
export type WalletReply = {
    balance: number;
    account_version?: number;
    next_commitment: string;
    transfers: Transfer[];
    next?: string;
};
/**
 * Replies.
 */
export type Nothing = Record<string, never>;
/**
 * The events of a client. Pushes are as on the wire.
 */
export type LinkEvent = {
    state: LinkState;
    again: boolean;
    code?: number;
    reason?: string;
    retryAt?: number;
};
/**
 * The events of a client. Pushes are as on the wire.
 */
export type LinkState = "connecting" | "connected" | "closed";
/**
 * The events of a client. Pushes are as on the wire.
 */
export type ReadyEvent = {
    user: User;
    account: AccountView;
    limits: Limits;
    rooms: Room[];
    states: State[];
    again: boolean;
};
/**
 * The events of a client. Pushes are as on the wire.
 */
export type EntryEvent = {
    room: string;
    entry: Entry;
    state?: State;
};
/**
 * The events of a client. Pushes are as on the wire.
 */
export type EnteredEvent = {
    room: Room;
};
/**
 * reason: left, kicked, banned, deleted; '' if unknown
 */
export type LeftEvent = {
    room: string;
    reason: string;
};
/**
 * after is 0 if the room was renumbered
 */
export type SkippedEvent = {
    room: string;
    after: number;
    through: number;
};
/**
 * The events of a client. Pushes are as on the wire.
 */
export type TypingEvent = {
    room: string;
    user: string;
};
/**
 * The events of a client. Pushes are as on the wire.
 */
export type PresenceEvent = {
    room: string;
    user: string;
    online: boolean;
};
/**
 * The events of a client. Pushes are as on the wire.
 */
export type ReadEvent = {
    room: string;
    user: string;
    seq: number;
};
/**
 * The events of a client. Pushes are as on the wire.
 */
export type ProgressEvent = {
    packet: string;
    room: string;
    claimed: number;
    count: number;
    latest: string[];
};
/**
 * The events of a client. Pushes are as on the wire.
 */
export type WalletEvent = {
    balance: number;
    account_version?: number;
    change: number;
    kind: string;
    packet?: string;
    next_commitment: string;
};
/**
 * The events of a client. Pushes are as on the wire.
 */
export type MemberCountEvent = {
    room: string;
    count: number;
};
/**
 * the user's request to enter the room was dropped
 */
export type JoinRefusedEvent = {
    room: string;
};
/**
 * set on any device
 */
export type RoomPrefsEvent = {
    room: string;
} & RoomPrefs;
/**
 * how many users ask to enter; to the owner and admins
 */
export type JoinRequestedEvent = {
    room: string;
    count: number;
};
/**
 * one change, of contact or of a user, on any device
 */
export type ContactsEvent = {
    contact?: Contact;
    user?: string;
    blocked?: boolean;
};
/**
 * The events of a client. Pushes are as on the wire.
 */
export type Events = {
    link: LinkEvent;
    ready: ReadyEvent;
    entry: EntryEvent;
    entered: EnteredEvent;
    left: LeftEvent;
    skipped: SkippedEvent;
    typing: TypingEvent;
    presence: PresenceEvent;
    read: ReadEvent;
    progress: ProgressEvent;
    wallet: WalletEvent;
    grabResult: GrabReply;
    memberCount: MemberCountEvent;
    contacts: ContactsEvent;
    joinRequested: JoinRequestedEvent;
    joinRefused: JoinRefusedEvent;
    roomPrefs: RoomPrefsEvent;
};
/**
 * The events of a client. Pushes are as on the wire.
 */
export type AccountView = {
    balance: number;
    version: number;
    currency: Currency;
    nextCommitment: string;
};
/**
 * token or getToken is required
 */
export type ClientOptions = {
    /**
     * a JWT
     */
    token?: string | undefined;
    /**
     * returns a new one when there is none or it has expired; null, or an error
     * that is not of the network, ends the client
     */
    getToken?: (() => Promise<string | null | undefined>) | undefined;
    /**
     * the class of the vendored SDK; globalThis.Centrifuge
     */
    Centrifuge?: any;
    /**
     * the class of the socket, where there is no global one, as in Node 20; globalThis.WebSocket
     */
    WebSocket?: any;
    /**
     * of the program, for the server's statistics
     */
    name?: string | undefined;
    version?: string | undefined;
    /**
     * entries of a room that wait for missing ones before them, 1,024; more are read again
     */
    queueLimit?: number | undefined;
    /**
     * how many missed entries of a room are read from history, 500; 'skipped' names the others
     */
    maxMissed?: number | undefined;
};
/**
 * The options of a client and of a call.
 */
export type CallOptions = {
    /**
     * ends the call; the command may have been executed
     */
    signal?: AbortSignal | undefined;
    /**
     * ms after which the call is not repeated and the last answer is the error; Infinity
     */
    patience?: number | undefined;
};
/**
 * The options of a client and of a call.
 */
export type NewMessage = {
    room: string;
    text?: string;
    data?: Record<string, any>;
    reply_to?: number;
    mentions?: string[];
    key?: string;
};
/**
 * The options of a client and of a call.
 */
export type NewRoom = {
    name: string;
    kind?: "public" | "private";
    members?: string[];
    invite?: Inviters;
    guests?: boolean;
    key?: string;
};
/**
 * The options of a client and of a call.
 */
export type NewPacket = {
    room: string;
    mode?: string;
    total: number;
    count?: number;
    spread?: string;
    greeting?: string;
    to?: string[];
    passphrase?: string;
    ttl_s?: number;
    commitment?: string;
    earlier_members?: boolean;
    skin?: Skin;
    key?: string;
};
