export class Methods {
    /**
     * @param {string} method
     * @param {any} [data]
     * @param {CallOptions} [options]
     * @returns {Promise<any>}
     */
    call(method: string, data?: any, options?: CallOptions): Promise<any>;
    /**
     * @param {import('./types.js').NewRoom} room
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').CreateRoomReply>}
     */
    createRoom(room: import("./types.js").NewRoom, o?: CallOptions): Promise<import("./types.js").CreateRoomReply>;
    /**
     * direct returns the direct room of this user and another one.
     * @param {string} user
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').RoomReply>}
     */
    direct(user: string, o?: CallOptions): Promise<import("./types.js").RoomReply>;
    /**
     * block blocks a user, and takes this user out of the direct room of the two.
     * @param {string} user
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').Nothing>}
     */
    block(user: string, o?: CallOptions): Promise<import("./types.js").Nothing>;
    /**
     * @param {string} user
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').Nothing>}
     */
    unblock(user: string, o?: CallOptions): Promise<import("./types.js").Nothing>;
    /**
     * setContact sets who may open direct rooms with this user and put this user into rooms.
     * @param {import('./types.js').Contact} contact
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').Nothing>}
     */
    setContact(contact: import("./types.js").Contact, o?: CallOptions): Promise<import("./types.js").Nothing>;
    /**
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').ContactsReply>}
     */
    contacts(o?: CallOptions): Promise<import("./types.js").ContactsReply>;
    /**
     * users returns names and avatars of the users that are in a room together with this user. Others are left out.
     * @param {string[]} users ids, at most 100
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').UsersReply>}
     */
    users(users: string[], o?: CallOptions): Promise<import("./types.js").UsersReply>;
    /**
     * @param {string} room
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').RoomReply>}
     */
    join(room: string, o?: CallOptions): Promise<import("./types.js").RoomReply>;
    /**
     * @param {string} room
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').Nothing>}
     */
    leave(room: string, o?: CallOptions): Promise<import("./types.js").Nothing>;
    /**
     * rooms lists a page of the user's rooms, those created last first. The event ready has all of them.
     * @param {{next?: string, limit?: number}} [page]
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').RoomsReply>}
     */
    rooms(page?: {
        next?: string;
        limit?: number;
    }, o?: CallOptions): Promise<import("./types.js").RoomsReply>;
    /**
     * @param {{query?: string, next?: string, limit?: number}} [page]
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').FindRoomsReply>}
     */
    findRooms(page?: {
        query?: string;
        next?: string;
        limit?: number;
    }, o?: CallOptions): Promise<import("./types.js").FindRoomsReply>;
    /**
     * invite adds users to a room: all of them, or none.
     * @param {string} room
     * @param {string[]} users
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').Nothing>}
     */
    invite(room: string, users: string[], o?: CallOptions): Promise<import("./types.js").Nothing>;
    /**
     * createLink makes an invite link. Its code is in this reply only. The call is repeated until it is answered; one link is made.
     * @param {{key?: string, room: string, ttl_s?: number, max_uses?: number, approval?: boolean}} link
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').CreateLinkReply>}
     */
    createLink(link: {
        key?: string;
        room: string;
        ttl_s?: number;
        max_uses?: number;
        approval?: boolean;
    }, o?: CallOptions): Promise<import("./types.js").CreateLinkReply>;
    /**
     * links lists the invite links of a room: to the owner and admins all, to others their own.
     * @param {string} room
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').LinksReply>}
     */
    links(room: string, o?: CallOptions): Promise<import("./types.js").LinksReply>;
    /**
     * @param {string} room
     * @param {string} link its id
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').Nothing>}
     */
    revokeLink(room: string, link: string, o?: CallOptions): Promise<import("./types.js").Nothing>;
    /**
     * joinLink: with waiting, 'entered' tells when the user was let in, and 'joinRefused' when the request was dropped.
     * @param {string} code of an invite link
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').JoinLinkReply>}
     */
    joinLink(code: string, o?: CallOptions): Promise<import("./types.js").JoinLinkReply>;
    /**
     * joinRequests lists the users that ask to enter a room, to its owner and admins.
     * @param {string} room
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').JoinRequestsReply>}
     */
    joinRequests(room: string, o?: CallOptions): Promise<import("./types.js").JoinRequestsReply>;
    /**
     * @param {string} room
     * @param {string} user
     * @param {boolean} admit
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').Nothing>}
     */
    answerRequest(room: string, user: string, admit: boolean, o?: CallOptions): Promise<import("./types.js").Nothing>;
    /**
     * @param {string} room
     * @param {string} user
     * @param {boolean} [ban]
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').Nothing>}
     */
    kick(room: string, user: string, ban?: boolean, o?: CallOptions): Promise<import("./types.js").Nothing>;
    /**
     * @param {string} room
     * @param {string} user
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').Nothing>}
     */
    unban(room: string, user: string, o?: CallOptions): Promise<import("./types.js").Nothing>;
    /**
     * setRole: an owner that names another one becomes an admin. So when the first answer is lost, the second is
     * `forbidden` with repeated set.
     * @param {string} room
     * @param {string} user
     * @param {Role} role
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').Nothing>}
     */
    setRole(room: string, user: string, role: Role, o?: CallOptions): Promise<import("./types.js").Nothing>;
    /**
     * @param {string} room
     * @param {string} user
     * @param {number} seconds 0 ends the mute
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').Nothing>}
     */
    mute(room: string, user: string, seconds: number, o?: CallOptions): Promise<import("./types.js").Nothing>;
    /**
     * @param {{room: string} & import('./types.js').RoomBody} change an empty announcement removes it
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').RoomReply>}
     */
    updateRoom(change: {
        room: string;
    } & import("./types.js").RoomBody, o?: CallOptions): Promise<import("./types.js").RoomReply>;
    /**
     * deleteRoom deletes a room for good.
     * @param {string} room
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').Nothing>}
     */
    deleteRoom(room: string, o?: CallOptions): Promise<import("./types.js").Nothing>;
    /**
     * setRoomPrefs changes what the user has decided about a room for all own devices. Missing fields stay.
     * @param {{room: string} & Partial<import('./types.js').RoomPrefs>} change
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').RoomPrefs>}
     */
    setRoomPrefs(change: {
        room: string;
    } & Partial<import("./types.js").RoomPrefs>, o?: CallOptions): Promise<import("./types.js").RoomPrefs>;
    /**
     * @param {{room: string, next?: string, limit?: number}} page
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').MembersReply>}
     */
    members(page: {
        room: string;
        next?: string;
        limit?: number;
    }, o?: CallOptions): Promise<import("./types.js").MembersReply>;
    /**
     * @param {string} room
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').PresenceReply>}
     */
    presence(room: string, o?: CallOptions): Promise<import("./types.js").PresenceReply>;
    /**
     * send sends a message to a room, once. text or data is required.
     * @param {import('./types.js').NewMessage} message
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').SendReply>}
     */
    send(message: import("./types.js").NewMessage, o?: CallOptions): Promise<import("./types.js").SendReply>;
    /**
     * @param {string} room
     * @param {number} seq
     * @param {string} text
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').SeqReply>}
     */
    edit(room: string, seq: number, text: string, o?: CallOptions): Promise<import("./types.js").SeqReply>;
    /**
     * @param {string} room
     * @param {number} seq
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').SeqReply>}
     */
    recall(room: string, seq: number, o?: CallOptions): Promise<import("./types.js").SeqReply>;
    /**
     * @param {string} room
     * @param {number} seq
     * @param {string} emoji
     * @param {boolean} on
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').Nothing>}
     */
    react(room: string, seq: number, emoji: string, on: boolean, o?: CallOptions): Promise<import("./types.js").Nothing>;
    /**
     * mentions lists texts that mention the user, newest first. A page may be empty though it has next.
     * @param {{next?: string, limit?: number}} [page]
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').MentionsReply>}
     */
    mentions(page?: {
        next?: string;
        limit?: number;
    }, o?: CallOptions): Promise<import("./types.js").MentionsReply>;
    /**
     * history: without cursor the newest; always in ascending order.
     * @param {{room: string, before?: number, after?: number, limit?: number}} page
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').HistoryReply>}
     */
    history(page: {
        room: string;
        before?: number;
        after?: number;
        limit?: number;
    }, o?: CallOptions): Promise<import("./types.js").HistoryReply>;
    /**
     * read stores how far the user has read. The position never moves back.
     * @param {string} room
     * @param {number} seq
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').ReadReply>}
     */
    read(room: string, seq: number, o?: CallOptions): Promise<import("./types.js").ReadReply>;
    /**
     * @param {{packet: string, after_rank?: number, limit?: number}} page of its claims
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').PacketReply>}
     */
    packet(page: {
        packet: string;
        after_rank?: number;
        limit?: number;
    }, o?: CallOptions): Promise<import("./types.js").PacketReply>;
    /**
     * cancelPacket cancels the user's own packet before the first grab.
     * @param {string} packet
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').CancelPacketReply>}
     */
    cancelPacket(packet: string, o?: CallOptions): Promise<import("./types.js").CancelPacketReply>;
    /**
     * @param {{direction: 'sent'|'received', from?: number, to?: number, next?: string, limit?: number}} page
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').PacketsReply>}
     */
    packets(page: {
        direction: "sent" | "received";
        from?: number;
        to?: number;
        next?: string;
        limit?: number;
    }, o?: CallOptions): Promise<import("./types.js").PacketsReply>;
    /**
     * @param {{next?: string, limit?: number}} [page]
     * @param {CallOptions} [o]
     * @returns {Promise<import('./types.js').WalletReply>}
     */
    wallet(page?: {
        next?: string;
        limit?: number;
    }, o?: CallOptions): Promise<import("./types.js").WalletReply>;
}
export type CallOptions = import("./types.js").CallOptions;
export type Role = import("./types.js").Role;
