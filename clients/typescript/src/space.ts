/** One subject: its rows of every kind, and what is done to it as a whole. */

import {
  buildPages,
  buildWriteHeaders,
  formatTime,
  Listed,
  Rows,
  readAnswer,
  readWritten,
  type Caller,
  type ListOptions,
  type ListPath,
  type Pages,
  type RowOf,
  type Schemas,
  type Time,
  type WriteOptions,
  type Written,
} from "./calls.js";

const facts = "/api/v1/spaces/{subject}/facts";
const notes = "/api/v1/spaces/{subject}/notes";
const entities = "/api/v1/spaces/{subject}/entities";
const blocks = "/api/v1/spaces/{subject}/blocks";
const windows = "/api/v1/spaces/{subject}/windows";
const events = "/api/v1/spaces/{subject}/events";

type Row<P extends ListPath> = RowOf<P>;
export type Fact = Row<typeof facts>;
export type Note = Row<typeof notes>;
export type Entity = Row<typeof entities>;
export type Block = Row<typeof blocks>;
export type Window = Row<typeof windows>;
export type Event = Row<typeof events>;

/** Rows of a subject that are written, too. */
class SpaceRows<P extends ListPath> extends Rows<P> {
  constructor(
    caller: Caller,
    path: P,
    protected readonly subject: string,
  ) {
    super(caller, path, { subject });
  }

  protected params(id: string, options: WriteOptions = {}) {
    return { path: { subject: this.subject, row_id: id }, header: buildWriteHeaders(options) };
  }
}

export class Facts extends SpaceRows<typeof facts> {
  /** The facts that held at a moment in the world. */
  heldAt(at: Time, options: Omit<ListOptions<typeof facts>, "status"> = {}): Pages<Fact> {
    return buildPages(this.caller, facts, this.at, { ...options, as_of: formatTime(at) });
  }

  /** Every wording and successor of a fact, the newest first. */
  versions(id: string): Pages<Fact> {
    const path = `${facts}/{row_id}/versions` as const;
    return buildPages(this.caller, path, { ...this.at, row_id: id }, {});
  }

  /** The same claim in better words, as a new version. */
  async correct(id: string, text: string, options: WriteOptions = {}): Promise<Written<Fact>> {
    const body = { text, reason: options.reason };
    const params = this.params(id, options);
    return readWritten("fact", await this.caller.api.POST(`${facts}/{row_id}/correct`, { params, body }));
  }

  /** It is no longer so: it held until `at`, or until now. */
  async end(id: string, options: WriteOptions & { at?: Time } = {}): Promise<Written<Fact>> {
    const body = { at: formatTime(options.at), reason: options.reason };
    const params = this.params(id, options);
    return readWritten("fact", await this.caller.api.POST(`${facts}/{row_id}/end`, { params, body }));
  }

  /** It was never so. */
  async retract(id: string, options: WriteOptions = {}): Promise<Written<Fact>> {
    const call = { params: this.params(id, options), body: { reason: options.reason } };
    return readWritten("fact", await this.caller.api.POST(`${facts}/{row_id}/retract`, call));
  }

  /** It is held no longer; `restore` or undo bring it back. */
  async forget(id: string, options: WriteOptions = {}): Promise<Written<Fact>> {
    const call = { params: this.params(id, options), body: { reason: options.reason } };
    return readWritten("fact", await this.caller.api.POST(`${facts}/{row_id}/forget`, call));
  }

  /** It is so after all, and still. */
  async restore(id: string, options: WriteOptions = {}): Promise<Written<Fact>> {
    const call = { params: this.params(id, options), body: { reason: options.reason } };
    return readWritten("fact", await this.caller.api.POST(`${facts}/{row_id}/restore`, call));
  }

  /** What is pinned does not fade, and the pipeline does not change it. */
  async pin(id: string, options: WriteOptions & { pinned?: boolean } = {}): Promise<Written<Fact>> {
    const body = { pinned: options.pinned ?? true, reason: options.reason };
    const params = this.params(id, options);
    return readWritten("fact", await this.caller.api.POST(`${facts}/{row_id}/pin`, { params, body }));
  }

  /** `other` says the same: it is taken out, and what it rests on supports this one. */
  async merge(id: string, other: string, options: WriteOptions = {}): Promise<Written<Fact>> {
    const call = { params: this.params(id, options), body: { other, reason: options.reason } };
    return readWritten("fact", await this.caller.api.POST(`${facts}/{row_id}/merge`, call));
  }
}

export class Notes extends SpaceRows<typeof notes> {
  /** Other descriptors; what is left out stays. The content of a note never changes. */
  async describe(
    id: string,
    descriptors: Omit<Schemas["DescribeNoteRequest"], "reason">,
    options: WriteOptions = {},
  ): Promise<Written<Note>> {
    const body = { ...descriptors, reason: options.reason };
    const params = this.params(id, options);
    return readWritten("note", await this.caller.api.POST(`${notes}/{row_id}/describe`, { params, body }));
  }

  /** What is pinned does not fade, and the pipeline does not change it. */
  async pin(id: string, options: WriteOptions & { pinned?: boolean } = {}): Promise<Written<Note>> {
    const body = { pinned: options.pinned ?? true, reason: options.reason };
    const params = this.params(id, options);
    return readWritten("note", await this.caller.api.POST(`${notes}/{row_id}/pin`, { params, body }));
  }

  /** Take it out, with its links. It can be undone. */
  async forget(id: string, options: WriteOptions = {}): Promise<Written<Note>> {
    const call = { params: this.params(id, options), body: { reason: options.reason } };
    return readWritten("note", await this.caller.api.POST(`${notes}/{row_id}/forget`, call));
  }

  /** Hold it again. Undoing the forgetting brings its links back as well. */
  async restore(id: string, options: WriteOptions = {}): Promise<Written<Note>> {
    const call = { params: this.params(id, options), body: { reason: options.reason } };
    return readWritten("note", await this.caller.api.POST(`${notes}/{row_id}/restore`, call));
  }

  /** `other` says the same: it is taken out, and what it rests on supports this one. */
  async merge(id: string, other: string, options: WriteOptions = {}): Promise<Written<Note>> {
    const call = { params: this.params(id, options), body: { other, reason: options.reason } };
    return readWritten("note", await this.caller.api.POST(`${notes}/{row_id}/merge`, call));
  }
}

export class Entities extends SpaceRows<typeof entities> {
  /** `other` means the same: its name is one more of this one from now on. */
  async merge(id: string, other: string, options: WriteOptions = {}): Promise<Written<Entity>> {
    const call = { params: this.params(id, options), body: { other, reason: options.reason } };
    return readWritten("entity", await this.caller.api.POST(`${entities}/{row_id}/merge`, call));
  }

  /** Take back the merge that made another stand for it. */
  async split(id: string, options: { reason?: string; key?: string } = {}): Promise<Written<Entity>> {
    const call = { params: this.params(id, options), body: { reason: options.reason } };
    return readWritten("entity", await this.caller.api.POST(`${entities}/{row_id}/split`, call));
  }
}

export class Blocks extends SpaceRows<typeof blocks> {
  /** A block in front of the subject's agents. */
  async new(label: string, value = "", options: Omit<Schemas["NewBlockRequest"], "label" | "value"> & { key?: string } = {}): Promise<Written<Block>> {
    const { key, ...more } = options;
    const params = { path: { subject: this.subject }, header: buildWriteHeaders({ key }) };
    const body = { label, value, ...more };
    return readWritten("block", await this.caller.api.POST(`${blocks}/new`, { params, body }));
  }

  /** All at once; what is left out stays. */
  async revise(
    id: string,
    given: Omit<Schemas["ReviseBlockRequest"], "reason">,
    options: WriteOptions = {},
  ): Promise<Written<Block>> {
    const body = { ...given, reason: options.reason } as Schemas["ReviseBlockRequest"];
    const params = this.params(id, options);
    return readWritten("block", await this.caller.api.POST(`${blocks}/{row_id}/revise`, { params, body }));
  }

  /** Out of every agent's sight; its versions stay. */
  async delete(id: string, options: WriteOptions = {}): Promise<Written<Block>> {
    const call = { params: this.params(id, options), body: { reason: options.reason } };
    return readWritten("block", await this.caller.api.POST(`${blocks}/{row_id}/delete`, call));
  }
}

/** Sessions of agents: what is in front of them, what they append, and their turns. */
export class Windows extends SpaceRows<typeof windows> {
  /** The window of the session of this name, which is begun where there is none. */
  async open(session: string, options: { agent?: string; key?: string } = {}): Promise<Window> {
    const params = { path: { subject: this.subject }, header: buildWriteHeaders(options) };
    const body = { session, agent: options.agent };
    const { data } = await this.caller.api.POST(`${windows}/open`, { params, body });
    return data!.window as Window;
  }

  /** Messages behind what is there. */
  async append(
    id: string,
    messages: Schemas["AppendToWindowRequest"]["messages"],
    options: { key?: string } = {},
  ): Promise<Schemas["WindowAppended"]> {
    const call = { params: this.params(id, options), body: { messages } };
    return readAnswer(await this.caller.api.POST(`${windows}/{row_id}/append`, call));
  }

  /** Have the hub's agent act until it yields, on these messages or on what is there. */
  async step(
    id: string,
    body: Schemas["StepWindowRequest"] = {},
    options: { key?: string } = {},
  ): Promise<Schemas["WindowTurn"]> {
    const call = { params: this.params(id, options), body };
    return readAnswer(await this.caller.api.POST(`${windows}/{row_id}/step`, call));
  }
}

export class Events extends SpaceRows<typeof events> {
  /** Take an event back; of an undo, that is redo. `cascade`: later ones before it. */
  async undo(
    id: string,
    options: { cascade?: boolean; dry_run?: boolean; reason?: string; key?: string } = {},
  ): Promise<Schemas["UndoResult"]> {
    const { key, ...body } = options;
    const call = { params: this.params(id, { key }), body };
    return readAnswer(await this.caller.api.POST(`${events}/{row_id}/undo`, call));
  }
}

/** What is remembered of one subject: `hub.space("ana")`. */
export class Space {
  readonly facts: Facts;
  readonly notes: Notes;
  readonly blocks: Blocks;
  readonly windows: Windows;
  readonly events: Events;
  readonly sessions: Rows<"/api/v1/spaces/{subject}/sessions">;
  readonly turns: Rows<"/api/v1/spaces/{subject}/turns">;
  readonly links: Rows<"/api/v1/spaces/{subject}/links">;
  readonly entities: Entities;
  readonly relations: Rows<"/api/v1/spaces/{subject}/relations">;
  readonly segments: Rows<"/api/v1/spaces/{subject}/segments">;
  readonly episodes: Rows<"/api/v1/spaces/{subject}/episodes">;
  readonly traits: Rows<"/api/v1/spaces/{subject}/traits">;
  readonly profile: Listed<"/api/v1/spaces/{subject}/profile">;
  readonly history: Listed<"/api/v1/spaces/{subject}/history">;
  readonly conflicts: Rows<"/api/v1/spaces/{subject}/conflicts">;

  constructor(
    private readonly caller: Caller,
    readonly subject: string,
  ) {
    const rows = <P extends ListPath>(path: P) => new Rows(caller, path, { subject });
    const list = <P extends ListPath>(path: P) => new Listed(caller, path, { subject });
    this.facts = new Facts(caller, facts, subject);
    this.notes = new Notes(caller, notes, subject);
    this.blocks = new Blocks(caller, blocks, subject);
    this.windows = new Windows(caller, windows, subject);
    this.events = new Events(caller, events, subject);
    this.sessions = rows("/api/v1/spaces/{subject}/sessions");
    this.turns = rows("/api/v1/spaces/{subject}/turns");
    this.links = rows("/api/v1/spaces/{subject}/links");
    this.entities = new Entities(caller, entities, subject);
    this.relations = rows("/api/v1/spaces/{subject}/relations");
    this.segments = rows("/api/v1/spaces/{subject}/segments");
    this.episodes = rows("/api/v1/spaces/{subject}/episodes");
    this.traits = rows("/api/v1/spaces/{subject}/traits");
    this.profile = list("/api/v1/spaces/{subject}/profile");
    this.history = list("/api/v1/spaces/{subject}/history");
    this.conflicts = rows("/api/v1/spaces/{subject}/conflicts");
  }

  private params(key?: string) {
    return { path: { subject: this.subject }, header: buildWriteHeaders({ key }) };
  }

  /** The subject, with how many memories of each kind there are. */
  async get(): Promise<Required<Schemas["Space"]>> {
    const params = { path: { subject: this.subject } };
    const { data } = await this.caller.api.GET("/api/v1/spaces/{subject}", { params });
    return data as Required<Schemas["Space"]>;
  }

  /** What the subject is called in what is written, "" for not known. What was written follows. */
  async setName(name: string, options: { key?: string } = {}): Promise<Schemas["Space"]> {
    const call = { params: this.params(options.key), body: { subject_name: name } };
    return (await this.caller.api.POST("/api/v1/spaces/{subject}/name", call)).data!.space;
  }

  /** Keep nothing of what is said, from now on or no longer. What is remembered stays. */
  async pause(paused = true, options: { key?: string } = {}): Promise<Schemas["Space"]> {
    const call = { params: this.params(options.key), body: { paused } };
    return (await this.caller.api.POST("/api/v1/spaces/{subject}/pause", call)).data!.space;
  }

  /** Undo every event after `to`, all or none. Takes a key with the scope admin. */
  async rollBack(
    to: Time,
    options: { dry_run?: boolean; reason?: string; key?: string } = {},
  ): Promise<Schemas["UndoResult"]> {
    const { key, ...more } = options;
    const call = { params: this.params(key), body: { to: formatTime(to), ...more } };
    return readAnswer(await this.caller.api.POST("/api/v1/spaces/{subject}/roll-back", call));
  }

  /** Erase for good; a dry run says what would go. Takes a key with the scope admin. */
  async erase(
    target: Schemas["EraseRequest"]["target"],
    options: Omit<Schemas["EraseRequest"], "target"> & { key?: string } = {},
  ): Promise<Schemas["Erasure"]> {
    const { key, ...more } = options;
    const call = { params: this.params(key), body: { target, ...more } };
    return readAnswer(await this.caller.api.POST("/api/v1/spaces/{subject}/erase", call));
  }
}
