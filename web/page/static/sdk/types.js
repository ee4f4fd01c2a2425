// The objects of the wire (web/docs/protocol) and of this SDK, for readers and for tsc. The file holds no code.
// Money is in minor units, times are Unix milliseconds.

/**
 * @typedef {object} Entry  one element of a room's sequence
 * @property {number} seq
 * @property {string} id
 * @property {number} at
 * @property {User} from
 * @property {string} kind
 * @property {string} [key]
 * @property {any} body  by kind, such as TextBody for text
 *
 * @typedef {{code: string, exponent: number}} Currency
 * @typedef {Record<string, number>} Limits  by the names of web/docs/protocol/limits.md
 * @typedef {Record<string, never>} Nothing
 */

// generated: types
/**
 * @typedef {'owner'|'admin'|'member'} Role
 * @typedef {'members'|'admins'} Inviters  which members may invite users
 * @typedef {'everyone'|'shared'|'nobody'} Contact  shared: users of a common room
 * @typedef {'spam'|'scam'|'abuse'|'sexual'|'violence'|'other'} ReportReason
 * @typedef {{text?: string, data?: Record<string, any>, reply_to?: number, mentions?: string[], files?: File[],
 *   edited_at?: number, reactions?: Record<string, number>, recalled?: boolean, retired?: boolean, mention_all?: boolean,
 *   preview?: Preview}} TextBody
 * @typedef {{id: string, kind: 'picture'|'voice'|'file', name?: string, type: string, size: number, width?: number,
 *   height?: number, blur?: string, duration_ms?: number, wave?: string}} File
 *
 * @typedef {object} Preview
 * @property {string} url  http or https, as the text has it
 * @property {string} title  at most 200 characters, like 'text' on one line and without control characters
 * @property {string} [text]  at most 500 characters
 * @typedef {Packet & {reactions?: Record<string, number>}} PacketBody
 *
 * @typedef {object} Packet  the part of a packet that never changes
 * @property {string} id  id
 * @property {string} room  id of the room
 * @property {User} from  the User that sent it
 * @property {'lucky'|'equal'} mode  'lucky' or 'equal'
 * @property {'calm'|'classic'|'wild'|''} spread  'calm', 'classic' or 'wild'; '""' for 'equal'
 * @property {number} total  sum in minor units
 * @property {number} count  number of shares
 * @property {string} greeting  text
 * @property {string[]} [to]  the users that may grab; missing: all members
 * @property {boolean} locked  true: a passphrase is asked
 * @property {number} created_at  Unix milliseconds
 * @property {number} expires_at  Unix milliseconds
 * @property {string} commitment  hex SHA-256 of the seed, see Proof
 * @property {string} key  the sender's key
 * @property {boolean} [earlier_members]  true: only users may grab that have been members since before the packet was sent
 * @property {boolean} [one_per_person]  true: it pays at most one share to each person
 * @property {string} [skin]  the drawing on the envelope: 'cloud', 'koi', 'plum', 'lantern', 'moon', or one that the host brings; missing or unknown: draw the plain one
 * @property {number} [opens_at]  Unix milliseconds: it opens then; missing: it is open once it is sent
 * @property {number} [held]  number of shares that are held for some users; missing: none
 * @property {number} [held_until]  Unix milliseconds: then they are free to all
 * @property {number} [window_s]  of a draw: users can enter for so many seconds, until 'expires_at'
 * @property {'refund'|'share'} [rest]  of a draw: 'refund' or 'share'
 * @property {number} [waves]  of a rain: the shares come up in so many waves
 * @property {number} [over_s]  of a rain: the waves come within so many seconds, until 'expires_at'
 * @property {number} [max_wins]  of a rain: waves that one user may win
 *
 * @typedef {object} User
 * @property {string} id  the 'sub' of the JWT, or 'guest:…'; '~system': the host's back end, which is in no list of members
 * @property {string} name  display name, normalised
 * @property {string} [avatar]  URL of http or https, or relative
 * @property {boolean} [guest]  true: a user without an account of the host
 * @typedef {{packet: string, reason: 'drained'|'expired'|'cancelled', state: State, seed: string}} PacketDoneBody
 *
 * @typedef {object} State  the state of a packet as the user may see it
 * @property {string} packet  id
 * @property {'open'|'drained'|'expired'|'cancelled'} status  'open', 'drained', 'expired' or 'cancelled'
 * @property {number} claimed  number of shares taken
 * @property {Mine} [mine]  {amount, rank, at}: the share of the user that asks
 * @property {Luckiest} [luckiest]  {user, amount, rank}; 'user' is an id; once a lucky packet is finished
 * @property {number} [refunded]  left out when it is 0
 * @property {Draw} [draw]  {participants, root, receipt}; only of a draw or rain
 * @property {RainState} [rain]  {wave, ends_at, drawn, wins}; only of a rain
 * @typedef {{amount: number, rank: number, at: number}} Mine
 * @typedef {{user: string, amount: number, rank: number}} Luckiest
 * @typedef {{participants: number, root?: string, receipt?: Receipt}} Draw
 *
 * @typedef {object} Receipt
 * @property {string} packet  id of the draw
 * @property {number} [wave]  of a rain
 * @property {string} user  id
 * @property {string} leaf  hex: what the root covers of the user, see Proof
 * @property {number} at  Unix milliseconds
 * @property {string} key  hex: the public key of the signature
 * @property {string} signature  hex: Ed25519 over the other fields
 * @typedef {{wave?: number, ends_at?: number, drawn: number, wins?: Win[]}} RainState
 * @typedef {{wave: number, amount: number, rank: number}} Win
 * @typedef {{user: string, change: 'invited'|'kicked'|'banned'|'role'|'muted'|'left_private'|'added'|'removed', by: string,
 *   role?: Role, until?: number, users?: string[], count?: number}} MemberBody
 * @typedef {{target: number, text?: string, preview?: Preview, recalled?: boolean}} EditBody
 * @typedef {{target: number}} RecallBody
 * @typedef {{target: number, emoji: string, on: boolean, count: number}} ReactBody
 * @typedef {{name?: string, announcement?: string, invite?: Inviters, guests?: boolean, packets?: boolean, frozen?: boolean}} RoomBody
 * @typedef {{key?: string, name: string, kind?: 'public'|'private', members?: string[], invite?: Inviters, guests?: boolean,
 *   packets?: boolean}} NewRoom
 * @typedef {{room: Room, dup: boolean}} CreateRoomReply
 *
 * @typedef {object} Room  read_seq and unread are set for the user's own rooms, as of the last connect
 * @property {string} id  id
 * @property {string} name  empty for a direct room
 * @property {'public'|'private'|'direct'} kind  'public', 'private' or 'direct'
 * @property {string} [announcement]  text
 * @property {Inviters} [invite]  which members may invite: 'members' or 'admins'; left out at the default: 'admins' in a private room, 'members' in a public one
 * @property {boolean} [guests]  false: guests cannot enter; left out when they can
 * @property {boolean} [packets]  false: nobody can send packets; left out when they can be sent. Disable the button; grabs go on
 * @property {boolean} [frozen]  true: the host has frozen the room, and only the system may post. Disable the message field; grabs go on
 * @property {number} members  number of members
 * @property {number} last_seq  seq of the last entry
 * @property {number} created_at  Unix milliseconds
 * @property {Role} [role]  role of the user that asks: 'owner', 'admin' or 'member'
 * @property {boolean} [silent]  true if the user that asks has decided so; at a connect and on entering
 * @property {number} [silent_until]  when that silence ends, ms; left out: it does not
 * @property {boolean} [pinned]  true if the user that asks has decided so; at a connect and on entering
 * @property {boolean} [archived]  true if the user that asks has decided so; at a connect and on entering
 * @property {number} [read_seq]
 * @property {number} [unread]
 * @typedef {{room: Room}} RoomReply
 * @typedef {{contact: Contact, blocked: User[]}} ContactsReply
 * @typedef {{users: User[]}} UsersReply  without the users that the caller may not know
 * @typedef {{rooms: Room[], next?: string}} RoomsReply
 * @typedef {{rooms: Room[], next?: string}} FindRoomsReply
 * @typedef {{link: Link, code: string, dup?: boolean}} CreateLinkReply
 * @typedef {{id: string, by: User, created_at: number, expires_at: number, uses: number, max_uses?: number, approval?: boolean}} Link  an invite link
 * @typedef {{links: Link[]}} LinksReply
 * @typedef {{room?: Room, waiting?: boolean}} JoinLinkReply
 * @typedef {{requests: AskingUser[]}} JoinRequestsReply
 * @typedef {{user: User, at: number}} AskingUser
 * @typedef {{rules: Rule[]}} RulesReply
 *
 * @typedef {object} Rule
 * @property {string} kind  'words', 'patterns', 'links', 'slow', 'wait', 'repeat' or 'files'
 * @property {string} [do]  'refuse' (the default), 'hold' or 'report'; the latter two of words, patterns and links only
 * @property {string} [say]  what the user reads whose text is refused or held
 * @property {string[]} [words]  of words
 * @property {string[]} [patterns]  of patterns, each RE2; case does not matter
 * @property {string[]} [hosts]  of links: where links may lead, with what is below; missing: nowhere
 * @property {number} [seconds]  of slow, wait and repeat
 * @property {number} [days]  of files
 *
 * @typedef {object} SetRulesReply
 * @property {number} [tried]  texts on which the rules were tried
 * @property {number[]} [met]  their seqs which a rule would refuse, hold or report, the newest first
 * @typedef {{texts: HeldText[]}} HeldTextsReply
 *
 * @typedef {object} HeldText
 * @property {string} id
 * @property {User} from
 * @property {number} at
 * @property {string} rule  the kind of the rule
 * @property {string} [text]
 * @property {number} [files]  how many files it has
 *
 * @typedef {object} RoomPrefs  what the user has decided about a room
 * @property {boolean} silent  new entries make no sound, banner or notification, and do not count in the unread total of all rooms
 * @property {number} [silent_until]  when the silence ends, ms; left out: it does not
 * @property {boolean} pinned  at the top of the list
 * @property {boolean} archived  not in the list, until the next text or packet if the room is not silent without an end
 * @typedef {{key?: string}} PushKeyReply
 * @typedef {{endpoint: string, p256dh: string, auth: string}} PushSubscriptionKeys  the keys are in base64url
 * @typedef {{members: Member[], next?: string}} MembersReply
 * @typedef {{user: User, role: Role, online: boolean, muted_until?: number, read_seq?: number}} Member
 * @typedef {{room: string, key?: string, text?: string, data?: Record<string, any>, reply_to?: number, mentions?: string[],
 *   files?: string[], mention_all?: boolean}} NewMessage
 * @typedef {{seq: number, id: string, at: number, dup: boolean}} SendReply
 * @typedef {{seq: number}} SeqReply
 * @typedef {{report: string, dup: boolean}} ReportReply
 *
 * @typedef {object} ReportsReply
 * @property {ReportDecidedEvent[]} reports
 * @property {string} [next]  missing: it is the last page
 * @typedef {{report: string, side: 'reporter'|'reported', kind: 'message'|'packet'|'person', room?: string, seq?: number,
 *   packet?: string, about?: string, reason?: ReportReason, at: number, state: 'open'|'resolved'|'appealed',
 *   outcome?: 'acted'|'dismissed', cause?: 'spam'|'scam'|'abuse'|'sexual'|'violence'|'no_breach'|'no_evidence'|'other',
 *   resolved_at?: number, may_appeal?: boolean, appeal?: string}} ReportDecidedEvent
 * @typedef {{report: ReportDecidedEvent}} AppealReply
 * @typedef {{mentions: Mention[], next?: string}} MentionsReply
 * @typedef {{room: string, entry: Entry}} Mention
 * @typedef {{hits: Hit[], next?: string, behind?: boolean}} SearchReply
 * @typedef {{room: string, entry: Entry, places: Place[]}} Hit
 * @typedef {{from: number, to: number}} Place
 *
 * @typedef {object} FileState
 * @property {File} file
 * @property {'coming'|'held'|'ready'} state  coming: not received whole; held: the host has not released it yet; ready: a text may have it
 * @property {number} received  bytes that have come; the upload goes on from there
 *
 * @typedef {object} FileLinksReply
 * @property {string[]} queries  in the order of the files; see Read a file
 * @property {number} until  Unix milliseconds
 * @typedef {{entries: Entry[], packet_states: State[], more: boolean}} HistoryReply
 * @typedef {{unread: number}} ReadReply
 * @typedef {{online: number, users?: string[]}} PresenceReply
 * @typedef {{room: string, key?: string, mode?: string, total: number, count?: number, spread?: string, greeting?: string,
 *   to?: string[], passphrase?: string, ttl_s?: number, commitment?: string, earlier_members?: boolean,
 *   one_per_person?: boolean, skin?: string, opens_at?: number, hold_for?: string[], hold_away?: boolean, hold_s?: number,
 *   window_s?: number, rest?: 'refund'|'share', waves?: number, over_s?: number, max_wins?: number}} NewPacket
 * @typedef {{packet: Packet, seq: number, at: number, balance: number, account_version: number, next_commitment: string,
 *   dup: boolean}} SendPacketReply
 * @typedef {{packet: string, outcome: 'won'|'already'|'empty'|'expired'|'entered'|'missed'|'elsewhere', amount?: number,
 *   rank?: number, at?: number, balance?: number, account_version?: number, claimed: number, count: number, waiting?: number,
 *   participants?: number, wave?: number, receipt?: Receipt, user?: string, repeated?: true}} GrabReply  repeated: an earlier try of the call was not answered, so 'already' may mean that it has won
 * @typedef {{packet: Packet, state: State, claims: Claim[], more: boolean, proof?: Proof}} PacketReply
 * @typedef {{user: User, rank: number, at: number, amount?: number}} Claim
 * @typedef {{seed: string, commitment: string, shares: number[]}} Proof
 * @typedef {{state: State, balance: number, account_version: number}} CancelPacketReply
 * @typedef {{packets: PacketState[], totals: Totals, next?: string}} PacketsReply
 * @typedef {{packet: Packet, state: State, seq: number}} PacketState
 * @typedef {{count: number, amount: number, luckiest: number, best_day?: BestDay}} Totals
 * @typedef {{at: number, amount: number}} BestDay
 * @typedef {{packets: PacketState[], next?: string}} RoomPacketsReply
 * @typedef {{balance: number, account_version: number, next_commitment: string, limits: DayLimits, transfers: Transfer[],
 *   next?: string}} WalletReply
 * @typedef {{sent: DayLimit, received: DayLimit}} DayLimits
 * @typedef {{today: number, limit?: number, own?: number, next?: number, next_at?: number}} DayLimit
 * @typedef {{id: string, at: number, amount: number, kind: 'credit'|'debit'|'send'|'claim'|'refund', packet?: string,
 *   note?: string}} Transfer
 * @typedef {{limits: DayLimits}} SetOwnLimitsReply
 * @typedef {{room: PreviewRoom, by: Face, people: Face[], packet?: PreviewPacket, approval?: boolean}} LinkPreview
 * @typedef {{name: string, kind: 'public'|'private', members: number, guests?: boolean}} PreviewRoom
 * @typedef {{name: string, avatar?: string}} Face  what visitors see of a user
 * @typedef {{from: Face, greeting: string}} PreviewPacket
 * @typedef {{room: string, count: number}} MemberCountEvent
 * @typedef {{packet: string, room: string, claimed: number, count: number, latest: string[], participants?: number}} ProgressEvent
 * @typedef {{packet: string, room: string, wave: number, ends_at: number, result?: WaveResult}} WaveEvent
 * @typedef {{participants: number, won: number, winners: WaveWinner[]}} WaveResult
 * @typedef {{user: string, amount: number, rank: number}} WaveWinner
 * @typedef {{balance: number, account_version: number, change: number, kind: 'credit'|'debit'|'send'|'claim'|'refund',
 *   packet?: string, next_commitment: string}} WalletEvent
 * @typedef {{room: string, user: string, seq: number}} ReadEvent
 * @typedef {{room: string, user: string}} TypingEvent
 * @typedef {{room: string, user: string, online: boolean}} PresenceEvent
 * @typedef {{contact?: Contact, user?: string, blocked?: boolean}} ContactsEvent  one change, of contact or of a user, on any device
 * @typedef {{room: string, silent: boolean, silent_until?: number, pinned: boolean, archived: boolean}} RoomPrefsEvent  set on any device
 * @typedef {{room: string, count: number}} JoinRequestedEvent  how many users ask to enter; to the owner and admins
 * @typedef {{room: string}} JoinRefusedEvent  the user's request to enter the room was dropped
 * @typedef {{memberCount: MemberCountEvent, progress: ProgressEvent, wave: WaveEvent, wallet: WalletEvent, read: ReadEvent,
 *   typing: TypingEvent, presence: PresenceEvent, contacts: ContactsEvent, roomPrefs: RoomPrefsEvent,
 *   joinRequested: JoinRequestedEvent, joinRefused: JoinRefusedEvent, reportDecided: ReportDecidedEvent}} PushEvents  as on the wire
 */
// end

/**
 * The events of a client. Pushes are as on the wire.
 * @typedef {{state: LinkState, again: boolean, code?: number, reason?: string, retryAt?: number}} LinkEvent
 * @typedef {'connecting'|'connected'|'closed'} LinkState
 * @typedef {{user: User, account: AccountView, limits: Limits, rooms: Room[], states: State[], again: boolean}} ReadyEvent
 * @typedef {{room: string, entry: Entry, state?: State}} EntryEvent
 * @typedef {{room: Room}} EnteredEvent
 * @typedef {{room: string, reason: string}} LeftEvent  reason: left, kicked, banned, deleted; '' if unknown
 * @typedef {{room: string, after: number, through: number}} SkippedEvent  after is 0 if the room was renumbered
 * @typedef {{packet: string, commitment: string}} SeedMismatchEvent  a packet for which the server had refused a commitment has ended with
 *   another seed: the server has not told the truth
 * @typedef {{link: LinkEvent, ready: ReadyEvent, entry: EntryEvent, entered: EnteredEvent, left: LeftEvent, skipped: SkippedEvent,
 *   seedMismatch: SeedMismatchEvent} & PushEvents} Events
 *
 * @typedef {{balance: number, version: number, currency: Currency, nextCommitment: string}} AccountView
 */

/**
 * The options of a client and of a call.
 * @typedef {object} ClientOptions  token or getToken is required
 * @property {string} [token]  a JWT
 * @property {() => Promise<string|null|undefined>} [getToken]  returns a new one when there is none or it has expired; null, or an error
 *   that is not of the network, ends the client
 * @property {any} [Centrifuge]  the class of the vendored SDK; globalThis.Centrifuge
 * @property {any} [WebSocket]  the class of the socket, where there is no global one, as in Node 20; globalThis.WebSocket
 * @property {string} [name]  of the program, for the server's statistics
 * @property {string} [version]
 * @property {number} [queueLimit]  entries of a room that wait for missing ones before them, 1,024; more are read again
 * @property {number} [maxMissed]  how many missed entries of a room are read from history, 500; 'skipped' names the others
 *
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal]  ends the call; the command may have been executed
 * @property {number} [patience]  ms after which the call is not repeated and the last answer is the error; Infinity
 *
 * @typedef {object} UploadOptions
 * @property {'picture'|'voice'|'file'} kind
 * @property {string} [name]  a file needs one
 * @property {string} [type]  media type of a file
 * @property {number} [durationMs]  of a voice, which needs it
 * @property {Iterable<number>|string} [wave]  of a voice: at most 64 bytes, how loud it is from its beginning to its end; or base64 of them
 * @property {(sent: number, size: number) => void} [onProgress]
 * @property {AbortSignal} [signal]  cancels the upload
 *
 * @typedef {'original'|'middle'|'small'} FileVersion
 */

export {};
