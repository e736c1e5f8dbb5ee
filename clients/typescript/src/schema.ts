// Written by generate.py from the OpenAPI document of the server. Do not edit.
/** Everything about an entity, hidden memories too. */
export type AboutAnswer = {
  entity: string;
  memories: Array<MemoryAnswer>;
  entities: Array<Record<string, unknown>>;
  relations: Array<RelationAnswer>;
  /** How many more memories have the word, probably with another meaning. */
  in_texts: number;
};
/** How far several samples of one query agree. */
export type AgreementAnswer = {
  confidence: number;
  /** By memory, the share of the samples that returned it. */
  support: Record<string, number>;
  /** The query of each sample. */
  samples: Array<string>;
  /** Why nothing is shown; empty where something is. */
  refused: string;
};
/** A nickname of a speaker that queries may use; `undone` if it stands for itself. */
export type AliasAnswer = {
  word: string;
  name: string;
  memories: number;
  undone: boolean;
};
/** The nicknames of speakers, and those that were undone. */
export type AliasesAnswer = {
  aliases: Array<AliasAnswer>;
};
/** What to know before the first query. */
export type BriefingAnswer = {
  items: Array<BriefingItemAnswer>;
  /** The same in lines. */
  text: string;
  tokens: number;
  /** How many memories did not fit in the budget. */
  omitted: number;
};
/** A memory of a briefing. */
export type BriefingItemAnswer = {
  section: "pinned" | "instruction" | "preference" | "profile" | "important" | "unfinished" | "recent";
  memory: MemoryAnswer;
};
/** A cell of the grid, the mean of the places in it, and the ids of the memories there. */
export type CellAnswer = {
  name: string;
  lat: number;
  lon: number;
  memories: Array<string>;
};
/** The cells in which memories are, those with the most first. */
export type CellsAnswer = {
  cells: Array<CellAnswer>;
};
/** The communities of a namespace, the largest first. */
export type CommunitiesAnswer = {
  communities: Array<CommunityAnswer>;
  /** Ids of memories, part by part, where parts were asked for. */
  partitions: Array<Array<string>>;
  level: number;
  count: number;
  modularity: number;
  converged: boolean;
  method: string;
  failure: string;
};
/** A community. */
export type CommunityAnswer = {
  summary: string;
  terms: Array<string>;
  entities: Array<string>;
  memories: Array<string>;
  since: string | null;
  until: string | null;
  representative: string | null;
  written: string | null;
  written_by: string | null;
};
/** A note that a newer memory may contradict an older one, and the decision. */
export type ContradictionAnswer = {
  newer: string;
  older: string;
  cue: string;
  reason: string;
  at: string;
  verdict: string | null;
  decided_by: string;
  decided_because: string;
  decided_at: string | null;
};
/** Contradictions, in the order in which they were noticed. */
export type ContradictionsAnswer = {
  contradictions: Array<ContradictionAnswer>;
};
/** The memory that replaces another, of which it copies the fields that are left out. */
export type Correction = {
  category?: string;
  tier?: "working" | "episodic" | "semantic" | "procedural";
  confidence?: number;
  importance?: number;
  pinned?: boolean;
  tags?: Array<string>;
  metadata?: Record<string, unknown>;
  entities?: Array<string>;
  place?: PlaceInput | null;
  valid_from?: string | null;
  valid_to?: string | null;
  expires_at?: string | null;
  content: string;
};
/** The decision whether a newer memory contradicts an older one, and its reason. */
export type Decision = {
  newer: string;
  older: string;
  contradicts: boolean;
  because: string;
};
/** How many items were changed. */
export type DoneAnswer = {
  done: number;
};
/** A run that superseded duplicates. */
export type DuplicateRunAnswer = {
  number: number;
  started_at: string;
  finished_at: string | null;
  undone_at: string | null;
  strategy: string;
  repeats: number;
};
/** Runs, the latest first. */
export type DuplicateRunsAnswer = {
  runs: Array<DuplicateRunAnswer>;
};
/** A search for duplicates; with `apply`, they are superseded. */
export type DuplicatesJob = {
  strategy?: "keep_highest_confidence" | "keep_most_recent" | "merge" | "keep_both";
  /** Whether paraphrases count; look before applying. */
  paraphrases?: boolean;
  /** Whether to supersede; otherwise nothing is written. */
  apply?: boolean;
  /** Only the groups in which one of these stays. */
  keep?: Array<string> | null;
};
/** A hit that a newer memory contradicts. */
export type EarlierAnswer = {
  id: string;
  newer: string;
  reason: string;
  /** The text of the newer one, if it is no hit and the query has no filter. */
  text: string;
};
/** The entities, those that most memories mention first. */
export type EntitiesAnswer = {
  entities: Array<EntityAnswer>;
};
/** An entity, and how many memories and relations it has. */
export type EntityAnswer = {
  name: string;
  type: string;
  aliases: Array<string>;
  description: string;
  place: PlaceAnswer | null;
  memories: number;
  relations: number;
  merged: Array<string>;
};
/** An entity as it was described. */
export type EntityDescription = {
  name: string;
  type: string;
  aliases: Array<string>;
  description: string;
  place: PlaceAnswer | null;
};
/** How many memories were removed, or would be in a dry run. */
export type EntityPurgeAnswer = {
  removed: number;
  would_remove?: number | null;
};
/** An entity and its score. */
export type EntityScoreAnswer = {
  entity: string;
  score: number;
};
/** Fields of an entity to set; others stay as they are. */
export type EntityUpdate = {
  type?: string | null;
  aliases?: Array<string> | null;
  description?: string | null;
  /** Where it is, for one that stays in a place. */
  place?: PlaceInput | null;
};
/** An experiment, with its state in answers about one. */
export type ExperimentAnswer = {
  name: string;
  base: string;
  method: string;
  variants: Array<Variant>;
  least_users: number;
  least_days: number;
  started: string;
  stopped: string | null;
  winner?: string | null;
  reason?: string;
  recommendation?: Record<string, unknown> | null;
  preference?: Record<string, unknown> | null;
};
/** A query of a user in an experiment. */
export type ExperimentRecallRequest = {
  /** What to look for. `question` and `text`, its former names, are still understood. */
  query: string;
  /** Several namespaces instead of one; acme/* is all below acme. */
  namespaces?: Array<string>;
  /** Also search what is above each namespace, and linked. */
  inherit?: boolean;
  limit?: number;
  /** Rank sessions instead of single memories. */
  sessions?: boolean;
  /** The recipe; see /v1/recipes. */
  recipe?: string | null;
  /** Parameters of the recipe to change for this query. */
  parameters?: Record<string, unknown>;
  filter?: Record<string, unknown> | null;
  /** Recall what was believed at that time. */
  as_of?: string | null;
  /** Recall what was true at that time. */
  true_at?: string | null;
  /** The period the query is about. */
  period?: PeriodInput | null;
  /** Only memories of what happened from then on. */
  since?: string | null;
  /** Only memories of what happened before then. */
  until?: string | null;
  /** The turns of the conversation before the query, oldest first. */
  history?: Array<string>;
  /** Memories from near there count more. */
  near?: PlaceInput | null;
  /** How many tokens the hits may take together. */
  budget?: number | null;
  /** Explain the score of every hit. */
  explain?: boolean;
  /** The least confidence of the result; below it the hits are in `refused`. Without it, what the recipe requires; with 0 nothing is refused. */
  min_confidence?: number | null;
  /** The query in other words, to measure how far the results agree. */
  variants?: Array<string>;
  /** Include all earlier writes, where a replica may be a moment behind. */
  fresh?: boolean;
  user: string;
};
/** Experiments, the latest first. */
export type ExperimentsAnswer = {
  experiments: Array<ExperimentAnswer>;
};
/** One thing that is wrong with a request. */
export type Fault = {
  /** Where it is. */
  at: string;
  /** What is wrong with it. */
  problem: string;
};
/** Feedback about a hit. */
export type FeedbackAnswer = {
  recall_id: string;
  memory_id: string;
  signal: string;
  given_at: string;
  rating: number | null;
};
/** Feedback, in the order in which it was given. */
export type FeedbackListAnswer = {
  feedback: Array<FeedbackAnswer>;
  more: boolean;
};
/** How many memories were forgotten, or in a dry run the ids of those that would be. */
export type ForgetAnswer = {
  done: number;
  would_forget?: Array<string> | null;
};
/** The status of the server. */
export type HealthAnswer = {
  status: string;
  version: string;
};
/** A memory that answers, its score, and how likely it answers. */
export type HitAnswer = {
  id: string;
  /** Relative to the other candidates of the query; hits are ordered by it. */
  score: number;
  /** How likely it answers the query, from 0 to 1, calibrated. */
  confidence: number;
  /** Whether the gate refused it. */
  refused: boolean;
  memory: MemoryAnswer;
  /** The reason in one sentence; only if `explain`. */
  reason?: string | null;
  /** A tree whose parts make up exactly the score; only if `explain`. */
  explanation?: Record<string, unknown> | null;
};
/** An entity, its PageRank, and how many memories mention it. */
export type HubAnswer = {
  entity: string;
  score: number;
  memories: number;
};
/** The entities of the highest PageRank, best first. */
export type HubsAnswer = {
  hubs: Array<HubAnswer>;
};
/** The result of an import: new memories, entities and relations, and how many existed already. */
export type ImportAnswer = {
  imported: number;
  entities: number;
  relations: number;
  known: number;
  known_entities: number;
  known_relations: number;
  import_id: string;
  failed: number;
  problems: Array<LineProblem>;
};
/** An import that can be undone. */
export type ImportedAnswer = {
  id: string;
  source: string;
  at: string;
  memories: number;
  relations: number;
};
/** The imports into a namespace that were not undone. */
export type ImportsAnswer = {
  imports: Array<ImportedAnswer>;
};
/** A job, as it is now. */
export type JobAnswer = {
  id: string;
  kind: string;
  namespace: string;
  created_at: string;
  state: string;
  done: number;
  total: number | null;
  note: string;
  result: Record<string, unknown> | null;
  problem: string;
};
/** Jobs, the newest first. */
export type JobsAnswer = {
  jobs: Array<JobAnswer>;
};
/** The memory to store under a key. */
export type KeyedMemory = {
  category?: string;
  tier?: "working" | "episodic" | "semantic" | "procedural";
  confidence?: number;
  importance?: number;
  pinned?: boolean;
  tags?: Array<string>;
  metadata?: Record<string, unknown>;
  entities?: Array<string>;
  place?: PlaceInput | null;
  valid_from?: string | null;
  valid_to?: string | null;
  expires_at?: string | null;
  content: string;
};
/** The limits of a request. */
export type LimitsAnswer = {
  body: number;
  text: number;
  query: number;
  batch: number;
  results: number;
  rate: number | null;
  seconds: number;
};
/** A line that could not be imported. */
export type LineProblem = {
  line: number;
  problem: string;
};
/** A logged recall: the query, and the ids of the hits shown, best first. */
export type LoggedRecallAnswer = {
  recall_id: string;
  at: string;
  query: string | null;
  recipe: string;
  embedder: string;
  candidates: number;
  shown: Array<string>;
  milliseconds: Record<string, number>;
};
/** Maintenance: promote, demote, expire, summarise. */
export type MaintenanceJob = {
  dry_run?: boolean;
};
/** Memories. */
export type MemoriesAnswer = {
  memories: Array<MemoryAnswer>;
};
/** A memory. */
export type MemoryAnswer = {
  id: string;
  content: string;
  created_at: string;
  namespace: string;
  category: string;
  tier: "working" | "episodic" | "semantic" | "procedural";
  confidence: number;
  importance: number;
  pinned: boolean;
  untrusted: boolean;
  tags: Array<string>;
  metadata: Record<string, unknown>;
  source: SourceAnswer;
  entities: Array<string>;
  place: PlaceAnswer | null;
  valid_from: string | null;
  valid_to: string | null;
  expires_at: string | null;
  supersedes: Array<string>;
  superseded_by: string | null;
  mentions: number;
  supported_at: string | null;
  access_count: number;
  last_accessed_at: string | null;
  version: number;
  fingerprint: string;
  embedder: string;
};
/** Memories by their ids. */
export type MemoryIds = {
  ids: Array<string>;
};
/** Memories, the newest first, and the cursor of the next page. */
export type MemoryPageAnswer = {
  memories: Array<MemoryAnswer>;
  cursor: string | null;
};
/** Memories to remove: by their ids, or all that pass a filter. */
export type MemorySelection = {
  ids?: Array<string> | null;
  filter?: Record<string, unknown> | null;
  /** Remove nothing, and return what would be removed. */
  dry_run?: boolean;
};
/** Fields of a memory to change; others stay as they are. */
export type MemoryUpdate = {
  category?: string;
  tier?: "working" | "episodic" | "semantic" | "procedural";
  confidence?: number;
  importance?: number;
  pinned?: boolean;
  tags?: Array<string>;
  metadata?: Record<string, unknown>;
  entities?: Array<string>;
  place?: PlaceInput | null;
  valid_from?: string | null;
  valid_to?: string | null;
  expires_at?: string | null;
  /** The version it was read at: if it is another by now, nothing changes. */
  expected_version?: number | null;
};
/** Two names of one entity. */
export type MergeRequest = {
  keep: string;
  other: string;
};
/** A namespace, and how many memories it holds, hidden ones too. */
export type NamespaceAnswer = {
  namespace: string;
  memories: number;
};
/** The namespaces that a key is for. */
export type NamespacesAnswer = {
  namespaces: Array<NamespaceAnswer>;
};
/** The memories nearest to a point, and the entities whose own place is near it. */
export type NearAnswer = {
  memories: Array<NearbyAnswer>;
  entities: Array<NearbyEntityAnswer>;
};
/** A memory and its distance. */
export type NearbyAnswer = {
  metres: number;
  memory: MemoryAnswer;
};
/** An entity with a place of its own, and its distance. */
export type NearbyEntityAnswer = {
  metres: number;
  entity: EntityDescription;
};
/** An experiment to start. */
export type NewExperiment = {
  name: string;
  variants: Array<Variant>;
  /** The recipe that the variants change. */
  base?: string | null;
  method?: "split" | "interleave";
  least_users?: number;
  least_days?: number;
};
/** Feedback about a hit. */
export type NewFeedback = {
  recall_id: string;
  memory_id: string;
  kind: "thumbs" | "rating" | "relevant" | "click";
  /** up or down; 1 to 5; yes or no; nothing for a click. */
  value?: number | string | null;
};
/** Memories to write, all or none. */
export type NewMemories = {
  items: Array<NewMemory>;
};
/** A memory to write. */
export type NewMemory = {
  category?: string;
  tier?: "working" | "episodic" | "semantic" | "procedural";
  confidence?: number;
  importance?: number;
  pinned?: boolean;
  tags?: Array<string>;
  metadata?: Record<string, unknown>;
  entities?: Array<string>;
  place?: PlaceInput | null;
  valid_from?: string | null;
  valid_to?: string | null;
  expires_at?: string | null;
  /** The text of the memory, verbatim. */
  content: string;
  /** An id of your own; generated if left out. */
  id?: string | null;
  /** When it was learnt; now if left out. */
  created_at?: string | null;
  source?: SourceInput;
  /** Whether not to trust it, whatever its source. */
  untrusted?: boolean;
  /** The memories that it replaces. */
  supersedes?: Array<string>;
  /** Its vector by the server's embedder, if it is known. */
  vector?: Array<number> | null;
  /** The embedder of the vector; refused if the server has another. */
  embedder?: string;
};
/** A recipe to save: another one, with some parameters changed. */
export type NewRecipe = {
  name: string;
  /** The recipe to begin with; the one in use if left out. */
  base?: string | null;
  parameters?: Record<string, unknown>;
  /** The evidence for it. */
  evidence?: Record<string, unknown>;
};
/** A relation between two entities. */
export type NewRelation = {
  subject: string;
  type: string;
  object: string;
  weight?: number;
  /** The memory that asserts it. */
  memory?: string | null;
  valid_from?: string | null;
  valid_to?: string | null;
};
/** A parameter of a recipe, its value and its range. */
export type ParameterAnswer = {
  name: string;
  value: unknown;
  type: string;
  low: number | null;
  high: number | null;
  choices: Array<string>;
  doc: string;
  group: string;
};
/** A path from an entity. */
export type PathAnswer = {
  start: string;
  steps: Array<StepAnswer>;
  score: number;
  cost: number | null;
};
/** Paths, the shortest first, the limit that was reached, if any, and the score of each entity. */
export type PathsAnswer = {
  paths: Array<PathAnswer>;
  truncated: string | null;
  scores: Array<EntityScoreAnswer>;
};
/** The period that a query names, and what the recall did with it. */
export type PeriodAnswer = {
  phrase: string;
  start: string;
  end: string;
  restricts: boolean;
  empty: boolean;
  inside: number;
  event: string;
  unmatched: boolean;
  /** What was done with it, in words. */
  note: string;
};
/** The period a query is about. */
export type PeriodInput = {
  start: string;
  end: string;
};
/** Where it was. */
export type PlaceAnswer = {
  lat: number;
  lon: number;
  name: string;
};
/** A place, in degrees. */
export type PlaceInput = {
  lat: number;
  lon: number;
  name?: string;
};
/** What went wrong. */
export type Problem = {
  /** A word for programs, after memorata: */
  type: string;
  /** What kind of problem it is. */
  title: string;
  /** The status of the answer. */
  status: number;
  /** What happened, and what to do about it. */
  detail?: string;
  /** The request, as the server's log calls it. */
  instance?: string;
  /** Each thing that is wrong with the request. */
  errors?: Array<Fault>;
};
/** How many memories were removed, or in a dry run the ids of those that would be. */
export type PurgeAnswer = {
  done: number;
  would_purge?: Array<string> | null;
};
/** The result of a recall. */
export type RecallAnswer = {
  /** What feedback about a hit refers to; empty where recalls are not logged. */
  recall_id: string;
  /** How likely the query is about what is stored, from 0 to 1. */
  confidence: number;
  /** How well the best candidate stands by itself, from 0 to 1: to compare queries by. */
  support: number;
  hits: Array<HitAnswer>;
  /** The hits that the gate refused; none of them is in `hits`. */
  refused: Array<HitAnswer>;
  sessions: Array<SessionAnswer>;
  /** The steps that could not run as they should. */
  degraded: Array<string>;
  rejected: RejectedAnswer | null;
  history: Array<EarlierAnswer>;
  recipe: string;
  embedder: string;
  /** How many hits did not fit in the budget. */
  omitted: number;
  milliseconds: Record<string, number>;
  /** How each leg searched. */
  methods: Record<string, string>;
  /** Of recipes that compare several searches. */
  agreement: AgreementAnswer | null;
  /** None where the query names no period. */
  period: PeriodAnswer | null;
  /** Words of the query that were read as the name of a speaker, and of which one. */
  aliases: Record<string, string>;
  /** The entities that pronouns of the query were taken to mean. */
  meant: Array<string>;
};
/** Recalls, the latest first. */
export type RecallLogAnswer = {
  recalls: Array<LoggedRecallAnswer>;
};
/** A query, and how to search for it. */
export type RecallRequest = {
  /** What to look for. `question` and `text`, its former names, are still understood. */
  query: string;
  /** Several namespaces instead of one; acme/* is all below acme. */
  namespaces?: Array<string>;
  /** Also search what is above each namespace, and linked. */
  inherit?: boolean;
  limit?: number;
  /** Rank sessions instead of single memories. */
  sessions?: boolean;
  /** The recipe; see /v1/recipes. */
  recipe?: string | null;
  /** Parameters of the recipe to change for this query. */
  parameters?: Record<string, unknown>;
  filter?: Record<string, unknown> | null;
  /** Recall what was believed at that time. */
  as_of?: string | null;
  /** Recall what was true at that time. */
  true_at?: string | null;
  /** The period the query is about. */
  period?: PeriodInput | null;
  /** Only memories of what happened from then on. */
  since?: string | null;
  /** Only memories of what happened before then. */
  until?: string | null;
  /** The turns of the conversation before the query, oldest first. */
  history?: Array<string>;
  /** Memories from near there count more. */
  near?: PlaceInput | null;
  /** How many tokens the hits may take together. */
  budget?: number | null;
  /** Explain the score of every hit. */
  explain?: boolean;
  /** The least confidence of the result; below it the hits are in `refused`. Without it, what the recipe requires; with 0 nothing is refused. */
  min_confidence?: number | null;
  /** The query in other words, to measure how far the results agree. */
  variants?: Array<string>;
  /** Include all earlier writes, where a replica may be a moment behind. */
  fresh?: boolean;
};
/** A recipe and its parameters. */
export type RecipeAnswer = {
  name: string;
  doc: string;
  parameters: Array<ParameterAnswer>;
};
/** The name of a recipe; null for the server's. */
export type RecipeName = {
  name: string | null;
};
/** The recipes, shipped and saved, and the one that is used where a query names none. */
export type RecipesAnswer = {
  recipes: Array<RecipeAnswer>;
  saved: Array<SavedRecipeAnswer>;
  default: string;
};
/** New vectors for everything, by the server's embedder. */
export type ReembedJob = {
  dry_run?: boolean;
  keep_old?: boolean;
};
/** The best candidate that was rejected, and the thresholds it missed. */
export type RejectedAnswer = {
  id: string;
  /** Relative to the other candidates: the best of weak ones may have 1. */
  score: number;
  reason: string;
  missed: Array<ShortfallAnswer>;
};
/** A relation. */
export type RelationAnswer = {
  subject: string;
  type: string;
  object: string;
  weight: number;
  memory: string | null;
  valid_from: string | null;
  valid_to: string | null;
  created_at: string | null;
};
/** Relations that hold, in the order in which they were declared. */
export type RelationsAnswer = {
  relations: Array<RelationAnswer>;
  /** Whether there are more than the limit. */
  more: boolean;
};
/** The memories, and how many of them existed already by their ids. */
export type RememberedAnswer = {
  memories: Array<MemoryAnswer>;
  known: number;
};
/** How many were removed. */
export type RemovedAnswer = {
  removed: number;
};
/** A saved recipe of a namespace, in its latest version, and the evidence for it. */
export type SavedRecipeAnswer = {
  name: string;
  doc: string;
  parameters: Array<ParameterAnswer>;
  evidence: Record<string, unknown>;
  saved_at: string;
  versions: number;
  in_use: boolean;
};
/** A session, its score, and the ids of its best memories. */
export type SessionAnswer = {
  session: string;
  score: number;
  hits: Array<string>;
};
/** The settings of the server. */
export type SettingsAnswer = {
  version: string;
  namespace: string;
  recipe: string;
  embedder: string | null;
  dimension: number | null;
  reranker: string | null;
  notes: Array<string>;
  limits: LimitsAnswer;
};
/** A threshold that was missed. */
export type ShortfallAnswer = {
  /** A cosine, a share of the best match, a confidence, an agreement, a support, or how likely the memories answer. */
  measure: "similarity" | "lexical" | "confidence" | "agreement" | "support" | "answer";
  /** None for a similarity that was not measured. */
  value: number | null;
  least: number;
};
/** The source of a memory. */
export type SourceAnswer = {
  speaker: string;
  session: string;
  position: number | null;
  link: string;
  via: string;
  role: string;
};
/** The source of a memory: speaker and role, session, position in it, and where to read it again. */
export type SourceInput = {
  speaker?: string;
  /** user, assistant, tool, …; goes before the speaker where trust is decided. */
  role?: string;
  session?: string;
  position?: number | null;
  link?: string;
};
/** One edge of a path, to an entity or a memory. */
export type StepAnswer = {
  type: string;
  forward: boolean;
  weight: number;
  entity: string | null;
  memory: string | null;
};
/** Proposed summaries. */
export type SummariesAnswer = {
  summaries: Array<SummaryAnswer>;
};
/** A proposed summary, and the memories it was made from. */
export type SummaryAnswer = {
  id: string;
  content: string;
  sources: Array<string>;
};
/** Proposed summaries by their ids, and whether they become memories. */
export type SummaryDecision = {
  ids: Array<string>;
  accepted: boolean;
};
/** Memories by their ids, and whether they are to be trusted. */
export type TrustChange = {
  ids: Array<string>;
  /** Whether their words count like the user's. */
  trusted?: boolean;
};
/** A search for better parameters, judged by the feedback of the namespace. */
export type TuningJob = {
  /** The recipe to begin with; the one in use if left out. */
  recipe?: string | null;
  /** By parameter, the values to try. */
  grid?: Record<string, Array<unknown>> | null;
  metric?: string;
  /** Tune the thresholds of the gate by this rule instead of a grid of parameters. */
  thresholds?: "precision" | "youden" | "f1" | "probability" | null;
  /** The least precision, or probability, for these two rules. */
  target?: number;
  /** Save the winner as a recipe of this name. */
  save_as?: string | null;
  /** Use it in this namespace from now on. */
  use?: boolean;
};
/** A nickname or misspelt name that is no longer read as a speaker's name, or is again. */
export type UndoAliasRequest = {
  word: string;
  restore?: boolean;
};
/** An import to undo. */
export type UndoImport = {
  id: string;
  /** Purge what was imported, instead of forgetting it. */
  purge?: boolean;
  dry_run?: boolean;
};
/** A merged name to separate again. */
export type UndoMergeRequest = {
  name: string;
};
/** The run to undo; null for the latest. */
export type UndoRequest = {
  run?: number | null;
};
/** The memories that are current again, and those that stay superseded by something newer. */
export type UndoneAnswer = {
  reinstated: Array<string>;
  left: Array<string>;
};
/** What undoing an import removed, or would: memories by namespace, and how many relations. */
export type UndoneImportAnswer = {
  memories: Record<string, Array<string>>;
  relations: number;
};
/** A variant of a recipe in an experiment. */
export type Variant = {
  name: string;
  /** Its share of the users; all shares make 1. */
  weight: number;
  /** Parameters of the recipe that it changes. */
  settings?: Record<string, unknown>;
};
/** By method and path, what an operation takes and what it answers. */
export interface Operations {
  /** Find the right few memories for a query. */
  "POST /v1/recall": { path: {}; query: {namespace?: string | null;}; body: RecallRequest; answer: RecallAnswer };
  /** Tell what to know before anything is asked: pinned, instructions, preferences, important, recent. */
  "GET /v1/briefing": { path: {}; query: {budget?: number; namespace?: string | null;}; body: undefined; answer: BriefingAnswer };
  /** Remember one thing; when the answer is there, it is on the disk. */
  "POST /v1/memories": { path: {}; query: {namespace?: string | null;}; body: NewMemory; answer: MemoryAnswer };
  /** List memories, the newest first, a page at a time. */
  "GET /v1/memories": { path: {}; query: {limit?: number; cursor?: string | null; hidden?: boolean; oldest_first?: boolean; fresh?: boolean; filter?: string | null; namespace?: string | null;}; body: undefined; answer: MemoryPageAnswer };
  /** Remember several things, all or none; one whose id is known already is left as it is. */
  "POST /v1/memories/batch": { path: {}; query: {namespace?: string | null;}; body: NewMemories; answer: RememberedAnswer };
  /** Remember under a key; what stood there before stays readable in the history. */
  "PUT /v1/memories/keyed": { path: {}; query: {key: string; namespace?: string | null;}; body: KeyedMemory; answer: MemoryAnswer };
  /** Return the current version under a key. */
  "GET /v1/memories/keyed": { path: {}; query: {key: string; namespace?: string | null;}; body: undefined; answer: MemoryAnswer };
  /** Forget the current version under a key, which is free then. */
  "DELETE /v1/memories/keyed": { path: {}; query: {key: string; namespace?: string | null;}; body: undefined; answer: MemoryAnswer };
  /** Hide memories from every recall, by ids or by a filter; `restore` brings them back. */
  "POST /v1/memories/forget": { path: {}; query: {namespace?: string | null;}; body: MemorySelection; answer: ForgetAnswer };
  /** Show forgotten memories again. */
  "POST /v1/memories/restore": { path: {}; query: {namespace?: string | null;}; body: MemoryIds; answer: DoneAnswer };
  /** Trust what a tool, a page or an unknown speaker said, or take the trust away. */
  "POST /v1/memories/trust": { path: {}; query: {namespace?: string | null;}; body: TrustChange; answer: DoneAnswer };
  /** Record that memories were of use, which makes them last and count more. */
  "POST /v1/memories/mark_used": { path: {}; query: {namespace?: string | null;}; body: MemoryIds; answer: DoneAnswer };
  /** Confirm that memories are still true, which raises their confidence. */
  "POST /v1/memories/confirm": { path: {}; query: {namespace?: string | null;}; body: MemoryIds; answer: DoneAnswer };
  /** Remove memories for good, with every trace of them. This cannot be undone, and takes a while. */
  "POST /v1/memories/purge": { path: {}; query: {namespace?: string | null;}; body: MemorySelection; answer: PurgeAnswer };
  /** Return the chain a memory is part of: what was replaced before what replaced it. */
  "GET /v1/memories/{id}/history": { path: {id: string;}; query: {namespace?: string | null;}; body: undefined; answer: MemoriesAnswer };
  /** Replace a memory; the old one stays readable in its history. */
  "POST /v1/memories/{id}/correct": { path: {id: string;}; query: {namespace?: string | null;}; body: Correction; answer: MemoryAnswer };
  /** Return one memory, a hidden one too; its ETag is its version. */
  "GET /v1/memories/{id}": { path: {id: string;}; query: {namespace?: string | null;}; body: undefined; answer: MemoryAnswer };
  /** Change what is known about a memory, never its content; 409 if it has changed meanwhile. */
  "PATCH /v1/memories/{id}": { path: {id: string;}; query: {namespace?: string | null;}; body: MemoryUpdate; answer: MemoryAnswer };
  /** List the runs that superseded duplicates; ``POST /v1/jobs/duplicates`` begins one. */
  "GET /v1/duplicates/runs": { path: {}; query: {namespace?: string | null;}; body: undefined; answer: DuplicateRunsAnswer };
  /** Undo a run: what it superseded is current again. */
  "POST /v1/duplicates/undo": { path: {}; query: {namespace?: string | null;}; body: UndoRequest; answer: UndoneAnswer };
  /** Take back that memories were superseded: they are current again. */
  "POST /v1/duplicates/reinstate": { path: {}; query: {namespace?: string | null;}; body: MemoryIds; answer: DoneAnswer };
  /** Return which memories may contradict each other. */
  "GET /v1/contradictions": { path: {}; query: {id?: string | null; resolved?: boolean; namespace?: string | null;}; body: undefined; answer: ContradictionsAnswer };
  /** Decide about a contradiction: if it is one, the newer memory supersedes the older one. */
  "POST /v1/contradictions": { path: {}; query: {namespace?: string | null;}; body: Decision; answer: ContradictionAnswer };
  /** List summaries of episodes: those that wait, or were accepted or rejected. */
  "GET /v1/summaries": { path: {}; query: {state?: "open" | "accepted" | "rejected"; namespace?: string | null;}; body: undefined; answer: SummariesAnswer };
  /** Accept proposed summaries, which are memories like others then, or leave them hidden for good. */
  "POST /v1/summaries": { path: {}; query: {namespace?: string | null;}; body: SummaryDecision; answer: DoneAnswer };
  /** List the ways to recall, with every parameter that a query may change. */
  "GET /v1/recipes": { path: {}; query: {namespace?: string | null;}; body: undefined; answer: RecipesAnswer };
  /** Save a recipe of the namespace's own; one of that name gets a new version. */
  "POST /v1/recipes": { path: {}; query: {namespace?: string | null;}; body: NewRecipe; answer: SavedRecipeAnswer };
  /** Let the namespace use a recipe where a query names none; null goes back to the server's. */
  "POST /v1/recipes/use": { path: {}; query: {namespace?: string | null;}; body: RecipeName; answer: RecipeAnswer };
  /** Take the last version of a saved recipe back; null takes back the last change of which one is used. */
  "POST /v1/recipes/rollback": { path: {}; query: {namespace?: string | null;}; body: RecipeName; answer: RecipeAnswer };
  /** Record feedback about a hit, which is named by the ids of its recall and its memory. */
  "POST /v1/feedback": { path: {}; query: {namespace?: string | null;}; body: NewFeedback; answer: FeedbackAnswer };
  /** Return feedback. */
  "GET /v1/feedback": { path: {}; query: {since?: string | null; limit?: number; namespace?: string | null;}; body: undefined; answer: FeedbackListAnswer };
  /** Return the recalls that were logged. */
  "GET /v1/recalls": { path: {}; query: {since?: string | null; limit?: number; namespace?: string | null;}; body: undefined; answer: RecallLogAnswer };
  /** Write out everything in a namespace, hidden memories too, as lines of JSON that `import` reads. */
  "GET /v1/export": { path: {}; query: {namespace?: string | null;}; body: undefined; answer: unknown };
  /** Import lines of JSON, as `export` writes them; what is there already is left as it is. A line that cannot be read is listed, and the others are imported. Everything goes to the one namespace of the request. Lines are written some hundred at a time: an import that breaks off can be sent again. */
  "POST /v1/import": { path: {}; query: {namespace?: string | null;}; body: string; answer: ImportAnswer };
  /** List the imports into a namespace that were not undone, the latest first. */
  "GET /v1/imports": { path: {}; query: {namespace?: string | null;}; body: undefined; answer: ImportsAnswer };
  /** Undo an import as one: forget what it brought, or with `purge` remove it for good. */
  "POST /v1/imports/undo": { path: {}; query: {namespace?: string | null;}; body: UndoImport; answer: UndoneImportAnswer };
  /** List the jobs about the namespaces that the key is for, or about one of them. */
  "GET /v1/jobs": { path: {}; query: {namespace?: string | null;}; body: undefined; answer: JobsAnswer };
  /** Return a job as it is now. */
  "GET /v1/jobs/{id}": { path: {id: string;}; query: {}; body: undefined; answer: JobAnswer };
  /** Ask a job to stop at its next step; what it has written stays. One that waits is over at once. */
  "DELETE /v1/jobs/{id}": { path: {id: string;}; query: {}; body: undefined; answer: JobAnswer };
  /** Watch a job: an event with all of it at every step, until its end, as long as the key is good. */
  "GET /v1/jobs/{id}/events": { path: {id: string;}; query: {}; body: undefined; answer: unknown };
  /** Start a check of the whole database; nothing is changed. */
  "POST /v1/jobs/check": { path: {}; query: {}; body: undefined; answer: JobAnswer };
  /** Start a search for duplicates. */
  "POST /v1/jobs/duplicates": { path: {}; query: {namespace?: string | null;}; body: DuplicatesJob; answer: JobAnswer };
  /** Start maintenance: promote, demote, expire, summarise; nothing is removed. */
  "POST /v1/jobs/maintain": { path: {}; query: {namespace?: string | null;}; body: MaintenanceJob; answer: JobAnswer };
  /** Start to embed everything with the server's embedder; searches go on meanwhile. */
  "POST /v1/jobs/reembed": { path: {}; query: {}; body: ReembedJob; answer: JobAnswer };
  /** List the namespaces that the key is for, and that something was ever written to. */
  "GET /v1/namespaces": { path: {}; query: {}; body: undefined; answer: NamespacesAnswer };
  /** Remove a namespace for good, with its name and all that belongs to it. This cannot be undone. It has to be named, even if it is the server's own. */
  "DELETE /v1/namespaces": { path: {}; query: {namespace: string;}; body: undefined; answer: RemovedAnswer };
  /** Tell that the server is there; asks nothing of the database. */
  "GET /v1/health": { path: {}; query: {}; body: undefined; answer: HealthAnswer };
  /** Tell whether the server can answer: its database can be read, and it is not about to stop. */
  "GET /v1/ready": { path: {}; query: {}; body: undefined; answer: HealthAnswer };
  /** Return the metrics, for Prometheus. */
  "GET /v1/metrics": { path: {}; query: {}; body: undefined; answer: unknown };
  /** Return the settings of the server that concern its clients. */
  "GET /v1/settings": { path: {}; query: {}; body: undefined; answer: SettingsAnswer };
  /** List the entities of the namespace. */
  "GET /v1/entities": { path: {}; query: {prefix?: string; limit?: number; namespace?: string | null;}; body: undefined; answer: EntitiesAnswer };
  /** Read one name as another from now on. */
  "POST /v1/entities/merge": { path: {}; query: {namespace?: string | null;}; body: MergeRequest; answer: EntityAnswer };
  /** Undo a merge: the name stands for itself again. */
  "POST /v1/entities/undo_merge": { path: {}; query: {namespace?: string | null;}; body: UndoMergeRequest; answer: EntityAnswer };
  /** List the nicknames of speakers that queries are expanded by, and the undone ones. */
  "GET /v1/entities/aliases": { path: {}; query: {namespace?: string | null;}; body: undefined; answer: AliasesAnswer };
  /** Let a nickname or a misspelt name stand for itself in queries, or no longer. */
  "POST /v1/entities/undo_alias": { path: {}; query: {namespace?: string | null;}; body: UndoAliasRequest; answer: AliasesAnswer };
  /** Return what is known about one entity, by any of its names. */
  "GET /v1/entities/{name}": { path: {name: string;}; query: {namespace?: string | null;}; body: undefined; answer: EntityAnswer };
  /** Describe an entity; a new name becomes one. */
  "PUT /v1/entities/{name}": { path: {name: string;}; query: {namespace?: string | null;}; body: EntityUpdate; answer: EntityAnswer };
  /** Return the relations that hold. */
  "GET /v1/relations": { path: {}; query: {entity?: string | null; as_of?: string | null; limit?: number; namespace?: string | null;}; body: undefined; answer: RelationsAnswer };
  /** Relate two entities; a relation that exists gets the new weight and end. */
  "POST /v1/relations": { path: {}; query: {namespace?: string | null;}; body: NewRelation; answer: RelationAnswer };
  /** Remove every relation of a type from one entity to another. */
  "DELETE /v1/relations": { path: {}; query: {subject: string; type: string; object: string; namespace?: string | null;}; body: undefined; answer: RemovedAnswer };
  /** Return everything about a person or a thing that is known. */
  "GET /v1/about": { path: {}; query: {entity: string; text?: boolean; namespace?: string | null;}; body: undefined; answer: AboutAnswer };
  /** Remove everything about a person or a thing that is known. This cannot be undone, and takes a while. */
  "DELETE /v1/about": { path: {}; query: {entity: string; text?: boolean; dry_run?: boolean; namespace?: string | null;}; body: undefined; answer: EntityPurgeAnswer };
  /** Return the ways that lead from an entity through relations and memories. */
  "GET /v1/paths": { path: {}; query: {start: string; to?: string | null; depth?: number; type?: Array<string> | null; direction?: "both" | "out" | "in"; order?: "breadth" | "depth"; decay?: number; shortest?: boolean; nodes?: number; limit?: number; seconds?: number; as_of?: string | null; namespace?: string | null;}; body: undefined; answer: PathsAnswer };
  /** Return the groups of memories and entities that hang together. */
  "GET /v1/communities": { path: {}; query: {level?: number; limit?: number; seed?: number; method?: "propagation" | "leiden"; levels?: number; iterations?: number | null; resolution?: number; partitions?: number; as_of?: string | null; namespace?: string | null;}; body: undefined; answer: CommunitiesAnswer };
  /** Return the entities of the highest PageRank. */
  "GET /v1/hubs": { path: {}; query: {limit?: number; direction?: "out" | "both"; damping?: number; iterations?: number; tolerance?: number; as_of?: string | null; namespace?: string | null;}; body: undefined; answer: HubsAnswer };
  /** Return the grid cells in which memories are, those with the most memories first. */
  "GET /v1/cells": { path: {}; query: {precision?: number; limit?: number; as_of?: string | null; namespace?: string | null;}; body: undefined; answer: CellsAnswer };
  /** Return memories in the order in which what they tell happened. */
  "GET /v1/timeline": { path: {}; query: {entity?: string | null; start?: string | null; end?: string | null; limit?: number; newest_first?: boolean; as_of?: string | null; namespace?: string | null;}; body: undefined; answer: MemoriesAnswer };
  /** Return the memories and the entities that were nearest to a point, and how far each was. */
  "GET /v1/near": { path: {}; query: {lat: number; lon: number; radius?: number | null; limit?: number; as_of?: string | null; namespace?: string | null;}; body: undefined; answer: NearAnswer };
  /** List the experiments of a namespace. */
  "GET /v1/experiments": { path: {}; query: {namespace?: string | null;}; body: undefined; answer: ExperimentsAnswer };
  /** Begin an experiment: variants of a recipe that users are divided among, or that meet in one list. */
  "POST /v1/experiments": { path: {}; query: {namespace?: string | null;}; body: NewExperiment; answer: ExperimentAnswer };
  /** Tell how an experiment stands; looking does not change the odds. */
  "GET /v1/experiments/{name}": { path: {name: string;}; query: {namespace?: string | null;}; body: undefined; answer: ExperimentAnswer };
  /** Stop an experiment, and tell how it stood. */
  "POST /v1/experiments/{name}/stop": { path: {name: string;}; query: {namespace?: string | null;}; body: undefined; answer: ExperimentAnswer };
  /** Recall with the variant of a user, and log the exposure. */
  "POST /v1/experiments/{name}/recall": { path: {name: string;}; query: {namespace?: string | null;}; body: ExperimentRecallRequest; answer: RecallAnswer };
  /** Start a search for better parameters of a recipe; what chance explains is refused. */
  "POST /v1/jobs/tune": { path: {}; query: {namespace?: string | null;}; body: TuningJob; answer: JobAnswer };
}
